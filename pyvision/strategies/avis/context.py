"""What is known of the picture as the lines that a model reads: captions with their place, entities, texts, objects.

One item a line, indented by two spaces, a comma behind it; places are the names of a grid of three by three. The
paper's prompts (appendix D) show these forms; the names of the middle row are ours, but for "center".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

WHOLE = "whole image"
_ROWS = ("upper", "center", "lower")
_COLUMNS = ("left", "center", "right")


def location(centre_x: float, centre_y: float) -> str:
    """Which ninth of the picture a point lies in; both are shares of its sides from the top left, 0 to 1."""
    row, column = _ROWS[_third(centre_y)], _COLUMNS[_third(centre_x)]
    return "center" if row == column else f"{row} {column}"


def caption_line(caption: str, place: str) -> str:
    return f"{_flat(caption)} (Caption, {place})"


def text_line(text: str, score: float | None = None) -> str:
    """A line of writing in the picture. score: 0 to 1."""
    return f"Extracted Text: {_flat(text)}{_score(score)}"


def entity_line(hit: Mapping[str, Any]) -> str:
    """What a search found for a picture: its title, what the text begins with, and the score in percent."""
    title, text = _flat(str(hit.get("title") or "(untitled)")), _first_sentence(str(hit.get("text") or ""))
    return f"{title}{': ' + text if text else ''}{_score(hit.get('score'))}"


def block(name: str, lines: Iterable[str]) -> str:
    """`name [`, the items, `]`."""
    return "\n".join([f"{name} [", *(f"  {line}," for line in lines), "]"])


def indent_block(text: str) -> str:
    """A block as an item of another one."""
    return text.replace("\n", "\n  ")


def _third(share: float) -> int:
    return min(2, max(0, int(share * 3)))


def _flat(text: str) -> str:
    return " ".join(text.split())


def _score(score: Any) -> str:
    return f" (score={100 * score:.1f})" if isinstance(score, int | float) else ""


def _first_sentence(text: str, most: int = 200) -> str:
    sentence = _flat(text).split(". ")[0].rstrip(".")
    return sentence if len(sentence) <= most else sentence[: most - 1] + "…"
