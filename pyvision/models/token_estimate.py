"""How many tokens a conversation has, where nobody has counted them: to keep to limits, never to report as fact."""

from __future__ import annotations

from collections.abc import Sequence

from pyvision.types import Message, Part, Text

_TOKEN_CHARS = 4  # of English and code; other scripts need more tokens
_TOKEN_PIXELS = 750  # Anthropic's own rule of thumb; others count pictures in tiles and come out near it
_MOST_PER_PICTURE = 1600
_MESSAGE_TOKENS = 4


def estimate_tokens(messages: Sequence[Message]) -> int:
    """Of a request."""
    return sum(_MESSAGE_TOKENS + sum(_tokens(part) for part in message.parts) for message in messages)


def tokens_in(text: str) -> int:
    """Of a text."""
    return -(-len(text) // _TOKEN_CHARS)


def _tokens(part: Part) -> int:
    if isinstance(part, Text):
        return tokens_in(part.text)
    return min(part.width * part.height // _TOKEN_PIXELS, _MOST_PER_PICTURE)
