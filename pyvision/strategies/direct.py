"""One question, one reply, no tools: the baseline of every comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pyvision.agent.episode import Episode
from pyvision.errors import FormatError
from pyvision.text.prompts import render
from pyvision.text.replies import find_answer, last_resort_answer
from pyvision.types import Answer, Message, Question, Text

_EMPTY = "the reply was empty"


@dataclass(frozen=True, slots=True)
class Direct:
    """Ask once with the bare images; if the reply gives no answer in any form, all of it is the answer."""

    roles: ClassVar[tuple[str, ...]] = ("solver",)
    tools: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[tuple[str, ...]] = ()
    continues: ClassVar[bool] = True
    runs_code: ClassVar[bool] = False

    def solve(self, question: Question, episode: Episode) -> Answer:
        prompt = render("direct/question.md", question=question.full_text)
        turn = Message("user", (*question.images, Text(prompt)))
        reply = episode.ask("solver", (*question.earlier.messages, turn))
        if reply.finish == "refusal":
            return Answer(None, "refused", remark=reply.text)
        try:
            found = find_answer(reply.text)
        except FormatError as error:
            episode.note("malformed", why=str(error))
            found = None
        if found is None and reply.finish == "length":
            return Answer(None, "truncated", remark="the reply was cut before its answer; raise max_tokens")
        if found is not None:
            return Answer(found)
        text = last_resort_answer(reply.text)
        return Answer(text, is_last_resort=True) if text else Answer(None, "no_answer", remark=_EMPTY)
