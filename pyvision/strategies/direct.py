"""One question, one reply, no tools: the baseline of every comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pyvision.agent.asking import send, settle
from pyvision.agent.episode import Episode
from pyvision.text.prompts import render
from pyvision.types import Answer, Message, Question, Text


@dataclass(frozen=True, slots=True)
class Direct:
    """Ask with the bare images; a reply that gives no answer in any form is asked for it once more."""

    roles: ClassVar[tuple[str, ...]] = ("solver",)
    tools: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[tuple[str, ...]] = ()
    continues: ClassVar[bool] = True
    runs_code: ClassVar[bool] = False

    def solve(self, question: Question, episode: Episode) -> Answer:
        prompt = render("direct/question.md", question=question.full_text)
        request = Message("user", (*question.images, Text(prompt)))
        turn = send(episode, "solver", (*question.earlier.messages, request))
        answer, _ = settle(episode, turn)
        return answer
