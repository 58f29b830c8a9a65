"""The roles of the strategy avis by rules: enough for simple questions over one's own collection, and no more.

The planner takes the first step in the graph's order that fits the part of the question; the decomposer looks for
`this X` and `the X in the picture`; the selector takes an object that the collection knows by name; the reasoner trusts
titles of high confidence, and reads passages as `passages` does. A prompt is known by its first line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from pyvision.offline.passages import find_extract
from pyvision.types import Message

_SECTION = re.compile(r"<([a-z]+)(?: tool=\"(\w+)\")?>\n(.*?)\n</\1>", re.DOTALL)
_PICTURE = r"(?:picture|image|photo|photograph|drawing)"
_WORDS = r"(?:(?!the\b|of\b)[a-z-]+\s+){1,4}?"
_MEANT = re.compile(
    rf"\b(?:(?:this|that)\s+[a-z-]+|the\s+{_WORDS}(?:shown |seen )?(?:in|on)\s+(?:the|this)\s+{_PICTURE}"
    r"|(?:this|that|it))\b",
    re.IGNORECASE,
)
_LOOKING = re.compile(
    rf"\b(?:what|which) colou?r\b|\bhow many\b.*\b(?:in|on) (?:the|this) {_PICTURE}\b|^\s*(?:is|are) there\b"
    r"|^\s*(?:what|which|who) (?:[a-z]+ )?is (?:this|that|it|shown)(?: [a-z-]+)?\s*\??\s*$",
    re.IGNORECASE,
)
_PICTURE_STEPS = ("vqa", "object_select", "identical_image_search", "image_search")
_SCORE = re.compile(r"\s*\(score=[\d.]+\)\s*,?$")
_NOTHING = "Think: no rule finds an answer in this.\nVerdict: not informative"

Sections = Mapping[str, str]


def find_avis_reply(messages: Sequence[Message]) -> str | None:
    """The reply of the role that the conversation's first turn asks for; None for a prompt of another strategy."""
    opening = messages[0].text if messages else ""
    play = _ROLES.get(opening.partition("\n")[0].strip())
    if play is None:
        return None
    sections = {name: text for name, _, text in _SECTION.findall(opening)}
    tool = next((tool for name, tool, _ in _SECTION.findall(opening) if name == "observation"), "")
    part = "visual" if "It is the visual part" in opening else "knowledge"
    return play({**sections, "tool": tool, "part": part})


def _decompose(sections: Sections) -> str:
    question = " ".join(sections.get("question", "").split())
    meant = _MEANT.search(question)
    if _LOOKING.search(question) or meant is None:
        return f"Visual: {question}\nKnowledge: #"
    noun = re.sub(
        rf"^(?:this|that|the)\s+|\s+(?:shown |seen )?(?:in|on)\s+(?:the|this)\s+{_PICTURE}$", "", meant[0]
    )
    about = "what is this?" if noun.casefold() in ("this", "that", "it") else f"what is this {noun}?"
    return f"Visual: {about}\nKnowledge: {question[: meant.start()]}#{question[meant.end() :]}"


def _plan(sections: Sections) -> str:
    names = re.findall(r"^- (\w+):", sections.get("actions", ""), re.MULTILINE)
    fitting = [name for name in names if (name in _PICTURE_STEPS) == (sections["part"] == "visual")]
    return f"Action: {(fitting or names or ['none'])[0]}"


def _select(sections: Sections) -> str:
    blocks = re.findall(r"Object #(\d+) \[\n(.*?)\n\]", sections.get("objects", ""), re.DOTALL)
    named = [number for number, lines in blocks if _titles(lines)]
    why = "The collection knows this object." if named else "The collection knows none of them."
    return f"{why}\nObject: {(named or ['0'])[0]}"


def _judge_visual(sections: Sections) -> str:
    tool, text = sections["tool"], sections.get("observation", "")
    if tool == "vqa":
        return _answerable(text.strip(), text.strip(), "")
    sure = re.findall(r"high confidence:\s*(.+)", text) if "image" in tool else _titles(text)
    title = _SCORE.sub("", sure[0]).strip(" ,") if sure else ""
    return (
        _answerable(title, f"the picture is known as {title}", _cite(sections, title)) if title else _NOTHING
    )


def _judge_knowledge(sections: Sections) -> str:
    text = sections.get("observation", "")
    if sections["tool"] in ("vqa", "llm_qa"):
        return _answerable(text.strip(), text.strip(), "")
    found = find_extract(sections.get("query", ""), text)
    if found is None:
        return _NOTHING
    return _answerable(found.answer, found.sentence, _cite(sections, found.title, found.place))


def _guessed(sections: Sections) -> str:
    """From all that was seen, in one reply."""
    text = sections.get("seen") or sections.get("observation", "")
    found = find_extract(sections.get("query") or sections.get("question", ""), text)
    if found is None:
        return "Answer: unknown"
    return f"Sources: {_cite(sections, found.title, found.place)}\nAnswer: {found.answer}"


def _answerable(answer: str, finding: str, sources: str) -> str:
    return f"Finding: {finding}\nSources: {sources}\nVerdict: answerable\nAnswer: {answer}"


def _titles(lines: str) -> list[str]:
    """The entities among the lines of an object: what is neither a caption, nor writing, nor a bracket."""
    found = (line.strip(" ,") for line in lines.splitlines())
    entities = [
        line
        for line in found
        if line and "(Caption," not in line and not re.match(r"Extracted Text|Object #|\]", line)
    ]
    return [re.split(r":\s|\s\(score=", line)[0] for line in entities]


def _cite(sections: Sections, title: str, place: int = 0) -> str:
    """The number of the source with this title, in brackets; of several the one at this place, else the last."""
    listed = re.findall(r"^\[(\d+)\] (.*)$", sections.get("sources", ""), re.MULTILINE)
    fitting = [n for n, told in listed if title and told.casefold().startswith(title.casefold())]
    at_place = [n for n, _ in listed[place : place + 1] if n in fitting]
    return f"[{(at_place or fitting[-1:])[0]}]" if fitting else ""


_ROLES: Mapping[str, Callable[[Sections], str]] = {
    "# Take a question about a picture apart": _decompose,
    "# Plan the next step": _plan,
    "# Choose an object": _select,
    "# Judge what a tool found in the picture": _judge_visual,
    "# Judge what a tool found out": _judge_knowledge,
    "# Answer with what there is": _guessed,
    "# Answer from a fixed row of tools": _guessed,
}
