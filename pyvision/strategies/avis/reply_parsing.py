"""Find plans, decompositions, objects and judgements in replies: pure functions, None if a reply holds none.

Replies are read tolerantly. A label (`Action:`, `Verdict:`) may be bold, quoted, in any case, a tag, a key of a JSON
object or a cell of a table; the last one counts. Without a label, an action counts if the reply names no other. The
paper's own endings are read too: "the predicted answer is X", "cannot be answered", "the predicted Object #ID is 3".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from pyvision.strategies.avis.actions import ACTIONS, Action
from pyvision.text.boxed_answers import clean_answer
from pyvision.text.json_repair import values_in
from pyvision.text.refusals import declines
from pyvision.text.replies import without_thinking

Ruling: TypeAlias = Literal["not informative", "informative", "answerable"]

_DECORATION = " \t*_`\"'“”"
_LABELS = (
    "action",
    "action input",
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
_ANY_LABEL = "|".join(_LABELS).replace(" ", "[ _]")
_LABELLED = re.compile(
    r"(?:[ \t>{(,*_`\"'#+•▪·→➤⇒✅✔✓❌–—|-]|\ufe0f)*+(?:[(\[]?\d{1,2}[.):\]]+)?[ \t*_`\"'#]*+(?P<open>[\[【])?"
    rf"(?P<label>{_ANY_LABEL})[ \t*_`\"']*+"
    r"(?:(?(open)(?P<close>[\]】])[ \t]*[:=：]?|(?P<sign>[:=：]|[-–—][ \t]))(?P<content>.*))?$",
    re.IGNORECASE,
)
_NEXT_ON_LINE = re.compile(
    rf"[|;,][ \t]{{1,20}}(?=[*_`\"']{{0,3}}(?:{_ANY_LABEL})[*_`\"']{{0,3}}[ \t]*[:=：])", re.IGNORECASE
)
_TAG = re.compile(rf"<(?P<end>/)?(?P<label>{_ANY_LABEL})>", re.IGNORECASE)
_HEADING = re.compile(r"[ \t>]*#{1,6}[ \t]+\S")
_MAX_DEPTH = 4  # of objects in a reply
_SPELLED = "|".join(name.replace("_", "[ \t_-]+") for name in sorted(ACTIONS, key=len, reverse=True))
_NAME = re.compile(rf"(?<![a-z_])(?:{_SPELLED})(?![a-z_])", re.IGNORECASE)
_QUOTED_QUERY = re.compile(  # web_search("when was it built?"), web_search[when was it built?]
    r"\s*(?:\(\s*(?:\w{1,12}\s*[=:]\s*)?[\"'“](?P<call>[^\n]{1,500}?)[\"'”]\s*\)|\[(?P<brackets>[^\n\]]{1,500})\])"
)
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
class PlannedAction:
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


def find_plan(reply: str) -> PlannedAction | None:
    """The action that a reply names, feasible or not; None if it names none or several."""
    text = without_thinking(reply)
    labelled = _label(text, "action")
    names = _names(labelled) if labelled else []
    if len(names) != 1:
        names = _names(text)
    if len(names) != 1:
        return None
    query = _label(text, "query") or _label(text, "action input") or _query_of_call(labelled or text)
    return PlannedAction(cast("Action", names[0]), query or None)


def says_enough(reply: str) -> bool:
    """Whether a planner says that enough is known to answer the question."""
    labelled = _label(without_thinking(reply), "action") or without_thinking(reply)
    return _ENOUGH.fullmatch(labelled.strip(_DECORATION + ".\n")) is not None


def is_refusal(reply: str) -> bool:
    """Whether a reply declines: it refuses without an answer, and decides nothing under any label."""
    text = without_thinking(reply)
    return declines(text) and not any(_label(text, label) for label in _LABELS)


def find_decomposition(reply: str) -> Decomposition | None:
    """The two parts of a question; None if one is missing. A knowledge part without # is not changed."""
    text = without_thinking(reply)
    visual, knowledge = _label(text, "visual"), _label(text, "knowledge")
    if not visual or not knowledge:
        return None
    return Decomposition(visual, None if knowledge.strip(" .?") == "#" else knowledge)


def find_object(reply: str) -> int | None:
    """The number of the object that a reply chooses: the labelled one, else the last one named; 0 for none of them."""
    text = without_thinking(reply)
    labelled = (_label(text, "object") or "").strip(_DECORATION + "#.()[]")
    if re.fullmatch(r"[0-9]{1,4}", labelled):
        return int(labelled)
    if re.fullmatch(r"none(?: of (?:them|these))?", labelled, re.IGNORECASE):
        return 0
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
    short = clean_answer(text.strip(" \t*_`"))
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


def _query_of_call(text: str) -> str | None:
    """The query behind the name of an action that is written as a call."""
    name = _NAME.search(text)
    found = _QUOTED_QUERY.match(text, name.end()) if name else None
    return (found["call"] or found["brackets"]).strip() if found else None


def _label(text: str, label: str) -> str | None:
    """What a reply says under a label, without decoration; the last one, in the first form that is there.

    A key of a JSON object; a tag; `label: text` with any bullet, number, bold or heading around it, also with the text
    on the next line; a row or a column of a table.
    """
    for form in (_in_json, _in_tags, _in_lines, _in_tables):
        if found := list(form(text, label)):
            return _clean(found[-1])
    return None


def _in_json(text: str, label: str) -> Iterator[str]:
    for value in values_in(text):
        yield from _in_value(value, label)


def _in_value(value: Any, label: str, depth: int = 0) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list):
        for inner in value:
            yield from _in_value(inner, label, depth + 1)
    elif isinstance(value, dict):
        for key, content in value.items():
            if _normalize_label(str(key)) != label:
                yield from _in_value(content, label, depth + 1)
            elif isinstance(content, list):
                yield ", ".join(map(str, content))
            elif isinstance(content, str | int | float):
                yield str(content)


def _in_tags(text: str, label: str) -> Iterator[str]:
    opened: re.Match[str] | None = None
    for tag in _TAG.finditer(text):
        if _normalize_label(tag["label"]) != label:
            continue
        if tag["end"] and opened:
            yield text[opened.end() : tag.start()]
        opened = None if tag["end"] else tag


def _in_lines(text: str, label: str) -> Iterator[str]:
    lines = _NEXT_ON_LINE.sub("\n", text).splitlines()
    for number, line in enumerate(lines):
        named = _match_label(line)
        if named is None or _normalize_label(named["label"]) != label:
            continue
        content = named["content"] or ""
        if content.strip(_DECORATION):
            yield content
            continue
        following = next(
            (lines[k] for k in range(number + 1, len(lines)) if lines[k].strip(_DECORATION + ">{}")), ""
        )
        if following and _match_label(following) is None and not _HEADING.match(following):
            yield following.lstrip("> \t")


def _match_label(line: str) -> re.Match[str] | None:
    """The label that a line begins with; one without a sign behind it is a heading, bold or in brackets."""
    found = _LABELLED.match(line)
    if found is None or found["sign"] or found["close"] or _HEADING.match(line) or _is_bold(line):
        return found
    return None


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
        if len(row) == 2 and column == 0 and (number > 0 or names[1] not in _LABELS):
            yield row[1]
        elif number == 0 and column < len(below):
            yield below[column]


def _is_bold(line: str) -> bool:
    plain = line.strip().lstrip("-+• \t")
    return plain.startswith(("*", "_")) and plain.endswith(("*", "_"))


def _normalize_label(label: str) -> str:
    return label.strip().casefold().replace("_", " ")


def _clean(text: str) -> str:
    """Without decoration, a comma of JSON and quotes around all of it; quotes inside it stay."""
    text = text.strip().strip("*_`").strip().removesuffix(",").rstrip()
    for left, right in ('""', "''", "“”"):
        inner = text.removeprefix(left).removesuffix(right)
        if inner != text and left not in inner and right not in inner:
            return inner.strip()
    return text
