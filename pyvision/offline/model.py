"""Answer a conversation by rules: choose a family by the wording, ask for cells, read what they print.

Covered: the questions of `families/`, about drawings more than about photographs. Not covered: everything
that needs to know what things are. It reads text only and holds no state: the conversation says how far it has come.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from pyvision.models.streaming import in_one_piece, truncate_at_stop
from pyvision.offline.avis_roles import find_avis_reply
from pyvision.offline.choice import FAMILIES, plan_for
from pyvision.offline.conversation import ParsedConversation, parse_conversation
from pyvision.offline.findings import finding_in
from pyvision.offline.plans import Cell, Found, Undecided, next_step
from pyvision.offline.vdebugger_roles import programming_reply
from pyvision.offline.wording import read_question
from pyvision.text import prompts
from pyvision.types import Message, Reply, Sampling


@dataclass(frozen=True, slots=True)
class Offline:
    """The Model that needs no key and no network; what it cannot do it declines (`finish` is `refusal`)."""

    is_offline: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return "offline"

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """One reply to the whole conversation; never fails."""
        if (played := find_avis_reply(messages)) is not None:
            return truncate_at_stop(Reply(played), sampling.stop)
        program = programming_reply(messages)
        if program is not None:
            return program
        conversation = parse_conversation(messages)
        match _next(conversation):
            case Cell(thought=thought, code=code):
                return truncate_at_stop(
                    Reply(f"{thought}\n<code>\n```python\n{code}\n```\n</code>"), sampling.stop
                )
            case Found(sentence, answer):
                return truncate_at_stop(
                    Reply(f"{sentence}\n<answer>\n\\boxed{{{answer}}}\n</answer>"), sampling.stop
                )
            case Undecided(reason):
                return _refusal(reason)

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Reply]:
        """The same reply, its text in one piece."""
        return in_one_piece(self.complete(messages, sampling))

    def close(self) -> None:
        """Nothing is open."""


def _next(conversation: ParsedConversation) -> Cell | Found | Undecided:
    asked = read_question(conversation.question, conversation.images)
    if not conversation.can_run:
        return Undecided("it can look at a picture only by running code, and this way of asking runs none")
    if not conversation.images:
        return Undecided("there is no image to look at")
    plan = plan_for(asked)
    if plan is None:
        unclear = " or does not say which image it means" if asked.images > 1 else ""
        return Undecided(f"the question fits none of its rules{unclear}")
    step = next_step(
        plan, [finding_in(output) for output in conversation.outputs], last_turn=conversation.last_turn
    )
    if isinstance(step, Cell):  # a plan counts the images of its question
        return replace(step, images=tuple(conversation.numbers[image] for image in step.images))
    return step


def _refusal(reason: str) -> Reply:
    families = ", ".join(family.about for family in FAMILIES)
    return Reply(prompts.render("offline/declined.md", reason=reason, families=families), finish="refusal")
