from __future__ import annotations

from pyvision.models.reply_builder import ReasoningCache, estimate_tokens
from pyvision.text.replies import canonical_reply
from pyvision.types import Message, Text
from tests.doubles import picture

ITEM = {"type": "reasoning", "id": "r"}
HELLO = (Message("user", (Text("hello"), picture())),)
REPLY = "I look.\n<code>\n```python\nprint(1)\n```\n"


def messages(text: str) -> tuple[Message, ...]:
    return (*HELLO, Message("assistant", (Text(text),)), Message("user", (Text("go on"),)))


def test_a_thought_is_found_by_the_reply_it_came_with() -> None:
    thoughts = ReasoningCache()
    thoughts.keep(HELLO, REPLY, [ITEM])
    assert canonical_reply(REPLY) != REPLY
    for text in (REPLY, canonical_reply(REPLY)):
        assert thoughts.before(messages(text), 1) == (ITEM,)


def test_another_reply_or_another_talk_has_none_of_it() -> None:
    thoughts = ReasoningCache()
    thoughts.keep(HELLO, REPLY, [ITEM])
    assert thoughts.before(messages("Something else."), 1) == ()
    other = (Message("user", (Text("hello"), picture(colour="red"))), *messages(REPLY)[1:])
    assert thoughts.before(other, 1) == ()


def test_the_oldest_thoughts_are_forgotten() -> None:
    thoughts = ReasoningCache()
    for number in range(3000):
        thoughts.keep(HELLO, f"<code>\nprint({number})\n", [ITEM])
    rest = [number for number in range(3000) if thoughts.before(messages(f"<code>\nprint({number})\n"), 1)]
    assert rest[-1] == 2999
    assert 0 < len(rest) < 3000


def test_text_and_pictures_count_and_a_picture_by_its_size_up_to_a_limit() -> None:
    def of(*parts: object) -> int:
        return estimate_tokens((Message("user", parts),))  # type: ignore[arg-type]

    assert of(Text("x" * 400)) - of() == 100
    assert of(picture(300, 250)) - of() == 100
    assert of(picture(4000, 4000)) - of() == of(picture(2000, 2000)) - of() < 2000
