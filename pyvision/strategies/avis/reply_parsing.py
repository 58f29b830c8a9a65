"""Find plans, decompositions, objects and judgements in replies: pure functions, None if a reply holds none.

Replies are read tolerantly. A label (`Action:`, `Verdict:`) may be bold, quoted, in any case or a key of a JSON object;
the last one counts. Without a label, an action counts if the reply names no other. The paper's own endings are
read too: "the predicted answer is X", "cannot be answered", "the predicted Object #ID is 3".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from pyvision.strategies.avis.actions import ACTIONS, Action
from pyvision.text.parsing import values_in
from pyvision.text.replies import without_thinking

Ruling: TypeAlias = Literal["not informative", "informative", "answerable"]

_DECORATION = " \t*_`\"'“”"
_LABELS = (
    "action",
    "query",
    "visual",
    "knowledge",
    "object",
    "think",
    "finding",
    "source",
    "sources",
    "verdict",
    "answer",
)
_LABELLED = re.compile(
    rf"[ \t>{{(,*_`\"'#+•–—|-]*+(?:[(\[]?\d{{1,2}}[.):\]]+)?[ \t*_`\"'#]*+(?P<label>{'|'.join(_LABELS)})"
    r"[ \t*_`\"']*+(?:(?P<sign>[:=：]|[-–—][ \t])(?P<content>.*))?$",
    re.IGNORECASE,
)
_SPELLED = "|".join(name.replace("_", "[ \t_-]+") for name in sorted(ACTIONS, key=len, reverse=True))
_NAME = re.compile(rf"(?<![a-z_])(?:{_SPELLED})(?![a-z_])", re.IGNORECASE)
_OBJECT = re.compile(r"object\s*(?:#?\s*id)?[\s*_`\"':=#]*(?:is)?[\s*_`\"':=#]*(\d{1,4})\b", re.IGNORECASE)
_IS = r"\banswer\s+(?:is|would be)\b"
_ANSWER_IS = re.compile(rf"{_IS}\s*:?\s*((?:(?!{_IS})[^\n])+)", re.IGNORECASE)
_NEGATIVE = re.compile(
    r"\bnot (?:be )?(?:informative|answerable|useful|relevant|answered)\b"
    r"|\bcan ?not be answered\b|\buninformative\b|\birrelevant\b|\bno (?:useful )?information\b",
    re.IGNORECASE,
)
_NO_ANSWER = re.compile(
    r"(?:none|unknown|n/?a|nothing|null|not (?:given|known|available|applicable|informative|enough)\b.*"
    r"|(?:it )?(?:cannot|can't|can not) be (?:answered|determined|said|known)\b.*|-+|\?+)?",
    re.IGNORECASE,
)
_ENOUGH = re.compile(
    r"answer(?: now)?|done|finish(?:ed)?|stop|enough(?: is known)?|none needed", re.IGNORECASE
)
_NUMBERS = re.compile(r"\d{1,6}")
_ANSWER_CHARS = 300  # a longer line is not an answer


@dataclass(frozen=True, slots=True)
class Plan:
    """What a planner chose. query: None if it gave none."""

    action: Action
    query: str | None = None


@dataclass(frozen=True, slots=True)
class Decomposition:
    """A question in two parts. visual: None if there is no image. knowledge: None if looking is enough."""

    visual: str | None
    knowledge: str | None

    def knowledge_query(self, answer: str) -> str:
        """The knowledge question with the answer of the visual one filled in."""
        return (self.knowledge or "").replace("#", answer)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a reasoner makes of an observation. sources: the numbers that it names."""

    ruling: Ruling
    finding: str = ""
    answer: str | None = None
    sources: tuple[int, ...] = ()


def find_plan(reply: str) -> Plan | None:
    """The action that a reply names, feasible or not; None if it names none or several."""
    text = without_thinking(reply)
    labelled = _label(text, "action")
    names = _names(labelled) if labelled else []
    if len(names) != 1:
        names = _names(text)
    query = _label(text, "query")
    return Plan(cast("Action", names[0]), query or None) if len(names) == 1 else None


def says_enough(reply: str) -> bool:
    """Whether a planner says that enough is known to answer the question."""
    labelled = _label(without_thinking(reply), "action") or without_thinking(reply)
    return _ENOUGH.fullmatch(labelled.strip(_DECORATION + ".\n")) is not None


def find_decomposition(reply: str) -> Decomposition | None:
    """The two parts of a question; None if one is missing. A knowledge part without # is not changed."""
    text = without_thinking(reply)
    visual, knowledge = _label(text, "visual"), _label(text, "knowledge")
    if not visual or not knowledge:
        return None
    return Decomposition(visual, None if knowledge.strip(" .?") == "#" else knowledge)


def find_object(reply: str) -> int | None:
    """The number of the object that a reply chooses: the last one named; 0 for none of them."""
    text = without_thinking(reply)
    found = _OBJECT.findall(text)
    if found:
        return int(found[-1])
    bare = text.strip(_DECORATION + "#.\n")
    return int(bare) if re.fullmatch(r"[0-9]{1,4}", bare) else None


def find_judgement(reply: str, *, has_type: bool = False) -> Judgement | None:
    """The judgement in a reply, or None. has_type: "answer is X, type" ends in a type, which is removed.

    It may say that the question is answerable and give no answer.
    """
    text = without_thinking(reply)
    label, answer = _label(text, "verdict"), find_answer(text, has_type=has_type)
    ruling = _ruling(label) if label else None
    if ruling is None:
        ruling = "answerable" if answer else _ruling(text)
    if ruling is None:
        return None
    finding = _label(text, "finding") or ""
    if _NO_ANSWER.fullmatch(finding.strip(_DECORATION + ".")):
        finding = ""
    return Judgement(ruling, finding, answer if ruling == "answerable" else None, source_numbers(text))


def find_answer(reply: str, *, has_type: bool = False) -> str | None:
    """The short answer of a reply, or None if it gives none or says that there is none."""
    text = without_thinking(reply)
    labelled = _label(text, "answer")
    if labelled is not None:
        return _answer(labelled)
    concluded = _ANSWER_IS.findall(text)
    if not concluded:
        return None
    last = str(concluded[-1])
    return _answer(last.rpartition(",")[0] if has_type and "," in last else last)


def says_nothing(answer: str) -> bool:
    """Whether the text of an answer says that there is none."""
    return _answer(answer) is None


def source_numbers(reply: str) -> tuple[int, ...]:
    """The numbers after `Sources:`."""
    text = without_thinking(reply)
    found = _label(text, "sources") or _label(text, "source") or ""
    return tuple(dict.fromkeys(int(number) for number in _NUMBERS.findall(found)))


def _answer(text: str) -> str | None:
    short = text.strip(_DECORATION).rstrip(".").strip(_DECORATION)
    return None if _NO_ANSWER.fullmatch(short) or len(short) > _ANSWER_CHARS else short


def _ruling(text: str) -> Ruling | None:
    plain = text.casefold().replace("_", " ")
    if _NEGATIVE.search(plain) or plain.strip(_DECORATION + ".,") == "no":
        return "not informative"
    if re.search(r"\b(?:answerable|final)\b", plain):
        return "answerable"
    return "informative" if re.search(r"\binformative\b", plain) else None


def _names(text: str) -> list[str]:
    found = (re.sub(r"[ \t_-]+", "_", name.casefold()) for name in _NAME.findall(text))
    return list(dict.fromkeys(found))


def _label(text: str, label: str) -> str | None:
    """What a reply says under a label, without decoration; the last one, in the first form that is there.

    A key of a JSON object; `label: text` with any bullet, number, bold or heading around it, also with the text on the
    next line; a row or a column of a table.
    """
    for form in (_in_json, _in_lines, _in_tables):
        if found := list(form(text, label)):
            return _clean(found[-1])
    return None


def _in_json(text: str, label: str) -> Iterator[str]:
    for value in values_in(text):
        if not isinstance(value, dict):
            continue
        for key, content in value.items():
            if key.strip().casefold() == label and isinstance(content, str | int | float | list):
                yield ", ".join(map(str, content)) if isinstance(content, list) else str(content)


def _in_lines(text: str, label: str) -> Iterator[str]:
    lines = text.splitlines()
    for number, line in enumerate(lines):
        named = _LABELLED.match(line)
        if named is None or named["label"].casefold() != label:
            continue
        content = named["content"] or ""
        if content.strip(_DECORATION):
            yield content
        elif named["sign"] or line.lstrip().startswith("#") or _is_bold(line):
            following = next((each for each in lines[number + 1 :] if each.strip(_DECORATION + "#>{}")), "")
            if following and _LABELLED.match(following) is None and not following.lstrip().startswith("#"):
                yield following


def _in_tables(text: str, label: str) -> Iterator[str]:
    """A cell beside its name, or below it in a table with a header."""
    rows = [
        [cell.strip(_DECORATION) for cell in line.strip().strip("|").split("|")]
        for line in text.splitlines()
        if line.count("|") >= 2 and line.strip(" |:-\t")
    ]
    for number, row in enumerate(rows):
        names = [cell.casefold() for cell in row]
        if label not in names:
            continue
        column = names.index(label)
        below = rows[number + 1] if number + 1 < len(rows) else []
        if len(row) == 2 and column == 0 and names[1] not in _LABELS:
            yield row[1]
        elif number == 0 and column < len(below):
            yield below[column]


def _is_bold(line: str) -> bool:
    return line.strip().startswith(("*", "_")) and line.strip().endswith(("*", "_"))


def _clean(text: str) -> str:
    return text.strip().strip("*_`").strip().strip('",').strip()
