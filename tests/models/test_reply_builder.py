from __future__ import annotations

from pyvision.models.reply_builder import estimate_tokens
from pyvision.types import Message, Text
from tests.doubles import picture


def tokens_of(*parts: object) -> int:
    """The estimate for these parts alone."""
    with_parts = estimate_tokens((Message("user", parts),))  # type: ignore[arg-type]
    return with_parts - estimate_tokens((Message("user", ()),))


def test_text_is_estimated_by_its_length() -> None:
    assert tokens_of(Text("x" * 400)) == 100


def test_an_image_is_estimated_by_its_size() -> None:
    assert tokens_of(picture(300, 250)) == 100


def test_the_estimate_for_an_image_has_a_limit() -> None:
    assert tokens_of(picture(2100, 2100)) == tokens_of(picture(2000, 2000)) < 2000
