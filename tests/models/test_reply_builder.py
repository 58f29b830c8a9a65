from __future__ import annotations

from pyvision.models.reply_builder import estimate_tokens
from pyvision.types import Message, Text
from tests.doubles import picture


def test_text_and_pictures_count_and_a_picture_by_its_size_up_to_a_limit() -> None:
    def of(*parts: object) -> int:
        return estimate_tokens((Message("user", parts),))  # type: ignore[arg-type]

    assert of(Text("x" * 400)) - of() == 100
    assert of(picture(300, 250)) - of() == 100
    assert of(picture(4000, 4000)) - of() == of(picture(2000, 2000)) - of() < 2000
