"""The roles of the strategy avis by rules: enough for simple questions about a collection of images and passages.

The planner takes the first action of the graph that fits the part of the question. The decomposer looks for `this X`
and `the X in the picture`. The selector takes an object that the collection knows by name. The reasoner trusts titles
of high confidence, and extracts answers from passages: it takes the sentence that shares most words with the question,
and in it a date, a quantity or a name, as the question requires. Prompts are recognized by their first lines.
Not covered: anything that has to be understood, such as negation, comparison or synonyms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

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
_SCORE = re.compile(r"\s*\(score=[\d.]+\).*$")
_NOTHING = "Think: no rule finds an answer here.\nVerdict: not informative"
_PASSAGE = re.compile(r"Title:[ \t]*([^\n]*)\n\s*Content:[ \t]*(.*?)(?=\n\s*Title:|\n\]|\Z)", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9])|\n+")
_WORD = re.compile(r"[a-z0-9]+")
_STOP = frozenset(
    """
    a an the of in on at to for by from with and or is are was were be been does do did has have had it its this that
    these those what which who whom whose when where how many much there their as into about name called
    """.split()  # noqa: SIM905 - easier to read as a text
)
_STEM = 5  # letters that two forms of a word have in common, as a rule of thumb
_DATE = re.compile(
    r"\b(?:\d{1,2} )?(?:(?:January|February|March|April|May|June|July|August|September|October|November|December)"
    r" (?:\d{1,2}, )?)?[12]\d{3}\b"
)
_QUANTITY = re.compile(r"(?<![\w.])\d[\d,.]*\d(?:\s?[a-zA-Zµ°%²³/]+)?|(?<![\w.])\d(?:\s?[a-zA-Zµ°%²³/]+)?")
_MEASURES = (  # how a question asks for it, and how a text says it
    ("deep", "depth"),
    ("long", "length", "lasted"),
    ("wide", "width", "breadth"),
    ("tall", "high", "height"),
    ("heavy", "weighs", "weight"),
    ("old", "age"),
    ("fast", "speed"),
)
_NAME = r"[A-Z][\w'-]+(?:(?: of| de| van| der| the)? [A-Z][\w'-]+)*"
_BY = re.compile(rf"\b(?:by|was|is|named|called)\s+(?:the\s+)?({_NAME})")
_AT = re.compile(rf"\b(?:in|at|near|on|from|to)\s+(?:the\s+)?({_NAME})")
_ANY_NAME = re.compile(rf"\b({_NAME})")
_IS = r"\s+(?:[\w-]+\s+){0,4}?(?:is|was|are|were)\s+(?:called |named )?(?:an? |the )?([^.,;()\n]{1,60})"

Sections = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TitledText:
    """A text under a title."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Extract:
    """A short answer, the sentence that contains it, the title and the index of its passage."""

    answer: str
    sentence: str
    title: str
    place: int = 0


def find_avis_reply(messages: Sequence[Message]) -> str | None:
    """The reply of the role that the first message describes; None for a prompt of another strategy."""
    opening = messages[0].text if messages else ""
    reply = _ROLES.get(opening.partition("\n")[0].strip())
    if reply is None:
        return None
    sections = {name: text for name, _, text in _SECTION.findall(opening)}
    tool = next((tool for name, tool, _ in _SECTION.findall(opening) if name == "observation"), "")
    part = "visual" if "It is the visual part" in opening else "knowledge"
    return reply({**sections, "tool": tool, "part": part})


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


def _answer_from_all(sections: Sections) -> str:
    """Answer from everything that was observed, in one reply."""
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
    fitting = [n for n, source in listed if title and source.casefold().startswith(title.casefold())]
    at_place = [n for n, _ in listed[place : place + 1] if n in fitting]
    return f"[{(at_place or fitting[-1:])[0]}]" if fitting else ""


def passages_in(text: str) -> list[TitledText]:
    """The Title and Content blocks of a search's output."""
    return [
        TitledText(title.strip().rstrip(","), content.strip()) for title, content in _PASSAGE.findall(text)
    ]


def find_extract(question: str, text: str) -> Extract | None:
    """The answer in the best sentence, or None if no sentence shares a word with the question and contains one."""
    wanted, extract = _stems(question) | _stems(" ".join(_measure(question))), _extractor(question)
    scored = sorted(_score(wanted, passages_in(text)), key=lambda each: -each[0])
    for _, sentence, title, place in scored:
        found = extract(sentence, question)
        if found:
            return Extract(found, sentence, title, place)
    return None


def _score(wanted: frozenset[str], passages: list[TitledText]) -> Iterator[tuple[int, str, str, int]]:
    """A word of the question in the sentence counts twice, one in the title once."""
    for place, passage in enumerate(passages):
        titled = _stems(passage.title)
        for sentence in _SENTENCE.split(passage.text):
            own = (_stems(sentence) & wanted) - titled
            if own:
                yield 2 * len(own) + len(titled & wanted), " ".join(sentence.split()), passage.title, place


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:_STEM] for word in _WORD.findall(text.casefold()) if word not in _STOP)


def _extractor(question: str) -> Callable[[str, str], str | None]:
    plain = question.casefold()
    kinds = (
        (r"\bwhen\b|\b(?:which|what) (?:year|date|century)\b", _when),
        (r"\bhow (?:many|much|tall|high|long|wide|deep|heavy|old|far|large|big|fast)\b", _how_many),
        (r"\bwho(?:m|se)?\b", _who),
        (r"\bwhere\b|\b(?:in|on|at) (?:which|what)\b", _where),
    )
    return next((extract for wording, extract in kinds if re.search(wording, plain)), _what)


def _when(sentence: str, question: str) -> str | None:
    found = _DATE.search(sentence)
    return found[0].strip() if found else None


def _how_many(sentence: str, question: str) -> str | None:
    """The quantity nearest to the measure that is asked for, else the first one."""
    quantities = list(_QUANTITY.finditer(sentence))
    names = "|".join(_measure(question))
    named = re.search(rf"\b(?:{names})\b", sentence, re.IGNORECASE) if names else None
    if named:
        quantities.sort(key=lambda found: max(found.start() - named.end(), named.start() - found.end()))
    return quantities[0][0].strip(" .,") if quantities else None


def _measure(question: str) -> tuple[str, ...]:
    """The words for the measure that a question asks for, if any."""
    asked = re.search(r"\bhow (\w+)\b", question.casefold())
    return next((names for names in _MEASURES if asked and asked[1] in names), ())


def _who(sentence: str, question: str) -> str | None:
    return _new(_BY, sentence, question) or _new(_ANY_NAME, sentence, question)


def _where(sentence: str, question: str) -> str | None:
    return _new(_AT, sentence, question) or _what(sentence, question)


def _what(sentence: str, question: str) -> str | None:
    """What a word of the question `is`, else the first name that is not in the question."""
    for word in re.findall(r"[a-z]+", question.casefold()):
        if word in _STOP:
            continue
        found = re.search(rf"\b{word}\w*{_IS}", sentence, re.IGNORECASE)
        if found and not _stems(found[1]) <= _stems(question):
            return found[1].strip()
    return _new(_ANY_NAME, sentence, question)


def _new(pattern: re.Pattern[str], sentence: str, question: str) -> str | None:
    known = _stems(question)
    names = (str(name) for name in pattern.findall(sentence))
    return next((name for name in names if _stems(name) and not _stems(name) & known), None)


_ROLES: Mapping[str, Callable[[Sections], str]] = {
    "# Take a question about a picture apart": _decompose,
    "# Plan the next step": _plan,
    "# Choose an object": _select,
    "# Judge what a tool found in the picture": _judge_visual,
    "# Judge what a tool found out": _judge_knowledge,
    "# Answer with what there is": _answer_from_all,
    "# Answer from a fixed sequence of tools": _answer_from_all,
}
