"""Questions about the encyclopaedia, in InfoSeek's three answer types, and scripted roles and tools with error rates.

Assumptions, which no result of this world can therefore confirm: errors are independent from step to step; a planner
that errs takes any offered step; one that may end the search does so when a finding states the answer; a reasoner
knows the wording of the articles and is misled only by chance; a decomposer makes no mistake. Half of the questions
need two articles, and so a second search for a name from the first one: a fixed sequence of tools fails at those by
construction.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from benchmarks.worlds.seeking.entries import KINDS, Entry, World, row, view
from pyvision.bench.samples import Sample
from pyvision.models.streaming import in_one_piece
from pyvision.types import Ask, Message, Observation, Picture, Reply, Sampling, Tool, ToolRequest

_SECTION = re.compile(r"<([a-z]+)(?: tool=\"(\w+)\")?>\n(.*?)\n</\1>", re.DOTALL)
_RETRIEVED = re.compile(r"(high confidence: )?([A-Z][\w ]+), (\w+) \(score=[\d.]+\)")
_PASSAGE = re.compile(r"Title: ([^\n]*)\n\s*Content: ([^\n]*)")
_RECORDED = re.compile(r"first recorded in (\d+) by ([A-Z]\w+ [A-Z]\w+)")
_FACTS: Mapping[str, re.Pattern[str]] = {
    "recorder": re.compile(r"by ([A-Z]\w+ [A-Z]\w+)"),
    "year": re.compile(r"first recorded in (\d+)"),
    "size": re.compile(r"measures (\d+) mm"),
    "town": re.compile(r"was born in (\w+) in"),
    "born": re.compile(r"was born in \w+ in (\d+)"),
    "books": re.compile(r"wrote (\d+) books"),
}
_PROBABLE = re.compile(r"probably it is ([^\n]+)")
_ANSWERED = re.compile(r"^Answer: (.+)", re.MULTILINE)
_END = "Action: answer"
_NOTHING = "Verdict: not informative"


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of question. text: {} is the object. kind: InfoSeek's answer type. articles: how many are needed."""

    text: str
    kind: str
    articles: int
    truth: Callable[[Entry], str | int]


FORMS: Mapping[str, Form] = {
    "recorder": Form("Who first recorded {}?", "String", 1, lambda t: t.person.name),
    "year": Form("In which year was {} first recorded?", "Time", 1, lambda t: t.year),
    "size": Form("How many mm does {} measure across?", "Numerical", 1, lambda t: t.size),
    "town": Form("In which town was the recorder of {} born?", "String", 2, lambda t: t.person.town),
    "born": Form("In which year was the recorder of {} born?", "Time", 2, lambda t: t.person.born),
    "books": Form("How many books did the recorder of {} write?", "Numerical", 2, lambda t: t.person.books),
}


@dataclass(frozen=True, slots=True)
class Case:
    """A question with its image. boxes: the true label and box of each object in the image."""

    id: str
    form: str
    entry: Entry
    text: str
    picture: Picture
    boxes: tuple[tuple[str, tuple[int, int, int, int]], ...]

    @property
    def is_crowded(self) -> bool:
        return len(self.boxes) > 1

    def sample(self) -> Sample:
        """The case for InfoSeek's metric: numbers count within ten percent."""
        form = FORMS[self.form]
        truth = form.truth(self.entry)
        target = truth if form.kind == "Numerical" else [str(truth)]
        return Sample(self.id, self.text, (), target, metadata={"question_type": form.kind})


@cache
def cases(made: World, count: int) -> tuple[Case, ...]:
    """`count` cases, the forms in turn; in every second round the image shows two other objects too."""
    chance = random.Random(f"cases {len(made.entries)}")
    return tuple(_case(number, made, chance) for number in range(count))


def _case(number: int, made: World, chance: random.Random) -> Case:
    form = list(FORMS)[number % len(FORMS)]
    entry = chance.choice(made.entries)
    text = FORMS[form].text.format(f"this {entry.kind}")
    crowd = [entry]
    if number // len(FORMS) % 2:
        others = [other for other in made.entries if other.kind != entry.kind]
        crowd += chance.sample(others, 2)
        chance.shuffle(crowd)
    picture, boxes = row([view(each, str(number)) for each in crowd])
    labelled = tuple((each.kind, box) for each, box in zip(crowd, boxes, strict=True))
    return Case(f"{number}", form, entry, text, picture, labelled)


@dataclass(frozen=True, slots=True)
class Rates:
    """Error rates from 0 to 1. recognised, misnamed: of `vqa`, which otherwise only answers the kind."""

    planner: float = 0.2  # takes any offered step
    malformed: float = 0.05  # replies of every role
    misread: float = 0.1  # a reasoner overlooks the answer
    misled: float = 0.1  # a reasoner takes the answer from another article
    cautious: float = 0.1  # a reasoner states the answer, and calls it informative
    goes_on: float = 0.2  # a planner does not notice that enough is known
    hasty: float = 0.05  # a planner ends although too little is known
    selector: float = 0.15
    detector: float = 0.15  # a wrong label
    recognised: float = 0.15
    misnamed: float = 0.25
    remembered: float = 0.1  # a fact that `llm_qa` knows
    invented: float = 0.2  # a fact that `llm_qa` makes up


class RoleModel:
    """Plays every role for one question, driven by the prompts of the strategy."""

    def __init__(self, case: Case, rates: Rates, seed: int = 0) -> None:
        self._case, self._rates, self._seed = case, rates, seed
        self._calls = 0

    @property
    def name(self) -> str:
        return "player"

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """The reply of the role that the prompt addresses."""
        self._calls += 1
        chance = random.Random(f"{self._seed} {self._case.id} {self._calls}")
        opening = messages[0].text
        sections = {name: text for name, _, text in _SECTION.findall(opening)}
        tool = next((tool for name, tool, _ in _SECTION.findall(opening) if name == "observation"), "")
        if chance.random() < self._rates.malformed:
            return Reply("Let me think about that.")
        match opening.partition("\n")[0]:
            case "# Take a question about a picture apart":
                return Reply(self._parts())
            case "# Plan the next step":
                if _END in opening and self._ends(sections, chance):
                    return Reply(_END)
                return Reply(self._plan(sections, "It is the visual part" in opening, chance))
            case "# Choose an object":
                return Reply(self._select(sections, chance))
            case "# Judge what a tool found in the picture":
                return Reply(self._judge_image(sections, tool, chance))
            case "# Judge what a tool found out":
                return Reply(self._cautiously(self._judge_text(sections, tool, chance), chance))
            case _:
                return Reply(self._guess(sections))

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Reply]:
        yield from in_one_piece(self.complete(messages, sampling))

    def _parts(self) -> str:
        kind = self._case.entry.kind
        return f"Visual: which {kind} is this?\nKnowledge: {FORMS[self._case.form].text.format('#')}"

    def _plan(self, sections: Mapping[str, str], is_visual: bool, chance: random.Random) -> str:  # noqa: FBT001
        offered = re.findall(r"^- (\w+):", sections["actions"], re.MULTILINE)
        context = sections.get("context", "")
        if chance.random() < self._rates.planner:
            return f"Action: {chance.choice(offered)}"
        person = None if is_visual else _RECORDED.search(context)
        wanted = _plan_visual(context) if is_visual else ["web_search", "llm_qa"]
        query = f"\nQuery: {person[2]}" if person else ""
        return f"Action: {next((name for name in wanted if name in offered), offered[0])}{query}"

    def _ends(self, sections: Mapping[str, str], chance: random.Random) -> bool:
        """Whether the planner takes what is known for enough; a rate of 1 and of 0 makes a planner that never ends."""
        is_known = _PROBABLE.search(sections.get("context", "")) is not None
        return chance.random() < (1 - self._rates.goes_on if is_known else self._rates.hasty)

    def _cautiously(self, verdict: str, chance: random.Random) -> str:
        found = _ANSWERED.search(verdict)
        if found and chance.random() < self._rates.cautious:
            return f"Finding: probably it is {found[1]}\nVerdict: informative"
        return verdict

    def _select(self, sections: Mapping[str, str], chance: random.Random) -> str:
        labels = re.findall(r"Object #(\d+) \[\n\s*(\w+) \(Caption", sections["objects"])
        if not labels or chance.random() < self._rates.selector:
            return f"Object: {chance.choice(labels)[0] if labels else 0}"
        fitting = [number for number, label in labels if label == self._case.entry.kind]
        return f"Object: {(fitting or ['0'])[0]}"

    def _judge_image(self, sections: Mapping[str, str], tool: str, chance: random.Random) -> str:
        """Accept the first title of the right kind; of an object, its label."""
        text, kind = sections["observation"], self._case.entry.kind
        if tool == "vqa":
            named = re.search(r"the \w+ ([A-Z][\w ]+)", text)
            return _answerable(named[1]) if named else _NOTHING
        if chance.random() < self._rates.misread:
            return _NOTHING
        titles = _RETRIEVED.findall(text)
        fitting = [title for _, title, of in titles if of == kind or chance.random() < self._rates.misled]
        if fitting:
            return _answerable(fitting[0])
        is_meant = tool == "object_select" and f"{kind} (Caption" in text
        return f"Finding: the object is {kind}\nVerdict: informative" if is_meant else _NOTHING

    def _judge_text(self, sections: Mapping[str, str], tool: str, chance: random.Random) -> str:
        """Accept the passage about the object, or about the person named in its article."""
        if tool == "llm_qa":
            fact = re.search(r"It is (.+)\.", sections["observation"])
            return _answerable(fact[1]) if fact and chance.random() >= self._rates.misread else _NOTHING
        if chance.random() < self._rates.misread:
            return _NOTHING
        passages = dict(_PASSAGE.findall(sections["observation"]))
        if passages and chance.random() < self._rates.misled:
            passages = dict.fromkeys((_find_name(sections["query"]),), chance.choice(list(passages.values())))
        return self._find(_find_name(sections["query"]), sections["known"], passages) or _NOTHING

    def _find(self, name: str, known: str, passages: Mapping[str, str]) -> str | None:
        form = self._case.form
        article = passages.get(name, "")
        recorded = _RECORDED.search(article) or _RECORDED.search(known)
        if FORMS[form].articles == 1:
            fact = _FACTS[form].search(article)
        else:
            fact = _FACTS[form].search(passages.get(recorded[2], "")) if recorded else None
        if fact:
            return _answerable(fact[1])
        return f"Finding: {name} was {recorded[0]}\nVerdict: informative" if recorded and article else None

    def _guess(self, sections: Mapping[str, str]) -> str:
        """What a finding states, else a guess: the first title of the right kind that has a passage with the fact."""
        if probable := _PROBABLE.search(sections.get("known", "")):
            return f"Answer: {probable[1]}"
        text = sections.get("observation") or sections.get("seen", "")
        passages = dict(_PASSAGE.findall(text))
        names = [title for _, title, kind in _RETRIEVED.findall(text) if kind == self._case.entry.kind]
        known = [_find_name(sections["query"])] if "query" in sections else []
        for name in (*known, *names, *passages):
            found = self._find(name, sections.get("known", ""), passages)
            if found and "Answer: " in found:
                return "Answer: " + found.rpartition("Answer: ")[2]
        return "Answer: unknown"


@dataclass(frozen=True, slots=True)
class ScriptedTool:
    """A tool for one question, with reproducible errors for each request."""

    is_repeatable: ClassVar[bool] = True
    name: str
    case: Case
    made: World
    rates: Rates
    purpose: str = "for a measurement"

    def __call__(self, request: ToolRequest, ask: Ask) -> Observation:
        chance = random.Random(f"{self.name} {self.case.id} {request.text}")
        match self.name:
            case "detect":
                return self._boxes(chance)
            case "vqa":
                return _format(self._name(chance))
            case _:
                return _format(self._recall(chance))

    def _boxes(self, chance: random.Random) -> Observation:
        rows = [
            dict(
                zip(("left", "top", "right", "bottom"), map(float, box), strict=True),
                score=0.9,
                label=chance.choice(KINDS) if chance.random() < self.rates.detector else label,
            )
            for label, box in self.case.boxes
        ]
        return Observation("boxes", {"boxes": rows})

    def _name(self, chance: random.Random) -> str:
        entry, drawn = self.case.entry, chance.random()
        if drawn < self.rates.recognised:
            return f"the {entry.kind} {entry.name}"
        if drawn < self.rates.recognised + self.rates.misnamed:
            other = chance.choice(self.made.entries).name if chance.random() < 0.5 else "Nowhere Such"
            return f"the {entry.kind} {other}"
        return f"some {entry.kind}"

    def _recall(self, chance: random.Random) -> str:
        form, drawn = FORMS[self.case.form], chance.random()
        if drawn < self.rates.remembered:
            return f"It is {form.truth(self.case.entry)}."
        if drawn < self.rates.remembered + self.rates.invented:
            return f"It is {form.truth(chance.choice(self.made.entries))}."
        return "I do not know."


def scripted_tools(case: Case, made: World, rates: Rates) -> dict[str, Tool]:
    """The tools other than the searches."""
    return {name: ScriptedTool(name, case, made, rates) for name in ("vqa", "llm_qa", "detect")}


def _plan_visual(context: str) -> list[str]:
    """The visual steps of a planner without errors: one object if there are several, else the whole image."""
    if "Object #" in context and "Object #1:" not in context:  # one is chosen
        return ["image_search", "vqa"]
    steps = ["identical_image_search", "object_select", "vqa"]
    return sorted(steps, key=lambda name: name != "object_select") if "Object #2:" in context else steps


def _find_name(query: str) -> str:
    """The name in a knowledge question, or the unchanged query."""
    first = query.partition("\n")[0]
    found = re.search(r"(?:recorded|does|was|recorder of) ((?:[A-Z]\w+ ?)+)", first)
    return found[1].strip() if found else first


def _answerable(answer: str) -> str:
    return f"Finding: it is {answer}\nVerdict: answerable\nAnswer: {answer}"


def _format(text: str) -> Observation:
    return Observation(text, {"answer": text})
