"""The rule-based model: parse the conversation, choose a plan by the wording of the question, and write its next cell.

Covered: the questions of `families/`, mostly about drawings. Not covered: everything that requires recognizing objects.
It reads text only and holds no state: all it needs to know is in the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from pyvision.models.streaming import in_one_piece, truncate_at_stop
from pyvision.offline.families import images, lines, shapes
from pyvision.offline.plans import (
    MeasuredAnswer,
    MeasurementPlan,
    PlannedCell,
    Undecided,
    next_step,
    parse_finding,
)
from pyvision.offline.wording import ParsedQuestion, read_question
from pyvision.text import prompts
from pyvision.types import Message, Picture, Reply, Sampling, Text

_QUESTION = re.compile(r"<question>\s*(.*)\s*</question>", re.DOTALL)
_TAG = re.compile(r"</?image_clue_\d+>")
_NUMBER = re.compile(r"<image_clue_(\d+)>\s*\Z")
_OUTPUT = re.compile(r"<interpreter>(.*)</interpreter>", re.DOTALL)
_LAST = re.compile(r"\blast (?:reply|turn|answer)\b[^.]*no (?:more )?code|\banswer now\b", re.IGNORECASE)
_MAX_QUESTION_CHARS = 600  # without tags a longer text is a prompt, not a question


@dataclass(frozen=True, slots=True)
class Offline:
    """The Model that needs no key and no network. It declines what it cannot do: `finish` is `refusal`."""

    is_offline: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return "offline"

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """One reply to the whole conversation; never fails."""
        if (reply := _find_role_reply(messages)) is not None:
            return truncate_at_stop(reply, sampling.stop)
        conversation = parse_conversation(messages)
        match _choose_step(conversation):
            case PlannedCell(thought=thought, code=code):
                return truncate_at_stop(
                    Reply(f"{thought}\n<code>\n```python\n{code}\n```\n</code>"), sampling.stop
                )
            case MeasuredAnswer(sentence, answer):
                return truncate_at_stop(
                    Reply(f"{sentence}\n<answer>\n\\boxed{{{answer}}}\n</answer>"), sampling.stop
                )
            case Undecided(reason):
                return _decline(reason)

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Reply]:
        """The same reply, its text in one piece."""
        return in_one_piece(self.complete(messages, sampling))

    def close(self) -> None:
        """Nothing is open."""


def _find_role_reply(messages: Sequence[Message]) -> Reply | None:
    """The reply to the prompt of a role of avis or vdebugger, which is always one message; None to any other."""
    if len(messages) != 1:
        return None
    from pyvision.offline.avis_roles import find_avis_reply
    from pyvision.offline.vdebugger_roles import find_program_reply

    text = find_avis_reply(messages)
    return find_program_reply(messages) if text is None else Reply(text)


@dataclass(frozen=True, slots=True)
class ParsedConversation:
    """The last question of a conversation, and what has followed it.

    numbers: the k of each `image_clue_k` that the question is about. outputs: one text for each cell.
    """

    question: str
    numbers: tuple[int, ...]
    can_run: bool
    outputs: tuple[str, ...] = ()
    last_turn: bool = False

    @property
    def images(self) -> int:
        return len(self.numbers)


def parse_conversation(messages: Sequence[Message]) -> ParsedConversation:
    """Parse the text of the messages. Images are counted, their pixels are not used."""
    questions = _find_questions(messages)
    opening = messages[questions[-1]] if questions else Message("user", ())
    since = messages[questions[-1] :] if questions else messages
    instructions = "".join(message.text for message in messages if message.role != "assistant")
    outputs = tuple(
        _parse_output(since[index + 1]) if index + 1 < len(since) else ""
        for index, message in enumerate(since)
        if message.role == "assistant" and "<code>" in message.text
    )
    return ParsedConversation(
        question=_parse_question(opening.text),
        numbers=next((found for at in reversed(questions) if (found := _parse_numbers(messages[at]))), ()),
        can_run="<code>" in instructions,
        outputs=outputs,
        last_turn=bool(messages) and _is_last_turn(messages[-1]),
    )


def _find_questions(messages: Sequence[Message]) -> list[int]:
    """The indexes of the user messages with a question between tags; if there is none, of the first user message."""
    users = [at for at, message in enumerate(messages) if message.role == "user"]
    return [at for at in users if _QUESTION.search(_OUTPUT.sub("", messages[at].text))] or users[:1]


def _parse_numbers(message: Message) -> tuple[int, ...]:
    """The k of each image, from the tag before it; images without a tag are numbered in order."""
    numbers: list[int] = []
    for at, part in enumerate(message.parts):
        if isinstance(part, Picture):
            before = message.parts[at - 1] if at else None
            tag = _NUMBER.search(before.text) if isinstance(before, Text) else None
            numbers.append(int(tag[1]) if tag else len(numbers))
    return tuple(numbers)


def _parse_question(text: str) -> str:
    tagged = _QUESTION.search(text)
    if tagged:
        return tagged[1].strip()
    bare = _TAG.sub("", text).strip()
    return bare if len(bare) <= _MAX_QUESTION_CHARS else ""


def _parse_output(message: Message) -> str:
    found = _OUTPUT.search(message.text)
    return found[1] if found else message.text


def _is_last_turn(message: Message) -> bool:
    return message.role == "user" and bool(_LAST.search(_OUTPUT.sub("", message.text)))


def find_plan(question: ParsedQuestion) -> MeasurementPlan | None:
    """The plan of the first family that fits the question, or None."""
    return next((plan for family in FAMILIES if (plan := family.plan(question)) is not None), None)


def _choose_step(conversation: ParsedConversation) -> PlannedCell | MeasuredAnswer | Undecided:
    question = read_question(conversation.question, conversation.images)
    if not conversation.can_run:
        return Undecided("it examines images by running code, and this strategy runs none")
    if not conversation.images:
        return Undecided("there is no image")
    plan = find_plan(question)
    if plan is None:
        unclear = " or does not say which image it means" if question.images > 1 else ""
        return Undecided(f"the question matches none of its rules{unclear}")
    step = next_step(
        plan, [parse_finding(output) for output in conversation.outputs], last_turn=conversation.last_turn
    )
    if isinstance(step, PlannedCell):  # plans number the images of their question from 0
        return replace(step, images=tuple(conversation.numbers[image] for image in step.images))
    return step


def _decline(reason: str) -> Reply:
    families = ", ".join(family.about for family in FAMILIES)
    return Reply(prompts.render("offline/declined.md", reason=reason, families=families), finish="refusal")


@dataclass(frozen=True, slots=True)
class QuestionFamily:
    """A kind of question: what it is about, and the plan for a question if it is of that kind."""

    about: str
    plan: Callable[[ParsedQuestion], MeasurementPlan | None]


FAMILIES = (  # the first whose wording fits a question answers it
    QuestionFamily("the size of an image", images.plan_size),
    QuestionFamily("differences between two images", images.plan_difference),
    QuestionFamily("rows and columns of a table", lines.plan_table),
    QuestionFamily("touching or overlapping circles", shapes.plan_contact),
    QuestionFamily("paths of one colour between lettered stations", lines.plan_paths),
    QuestionFamily("intersections of two lines", lines.plan_crossings),
    QuestionFamily("nested squares", shapes.plan_squares),
    QuestionFamily("overlapping circles and polygons", shapes.plan_overlapping),
    QuestionFamily("counting by colour and shape", shapes.plan_objects),
    QuestionFamily("colours", images.plan_colours),
    QuestionFamily("reading text", images.plan_text),
)
