"""Questions about invented things, in InfoSeek's three answer types, half of them needing two articles."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from benchmarks.worlds.seeking.entries import KINDS, Entry, World, row, view
from pyvision.bench.samples import Sample
from pyvision.models.streaming import in_one_piece
from pyvision.types import Ask, Message, Observation, Picture, Reply, Sampling, Tool, ToolRequest


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of question. text: {} stands for the thing. kind: InfoSeek's answer type. articles: how many it takes."""

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
    """A question with its picture. boxes: label and box of each thing in the picture, the true ones."""

    id: str
    form: str
    thing: Entry
    text: str
    picture: Picture
    boxes: tuple[tuple[str, tuple[int, int, int, int]], ...]

    @property
    def is_crowded(self) -> bool:
        return len(self.boxes) > 1

    def sample(self) -> Sample:
        """With its target as InfoSeek's metric takes it: a quantity counts within ten percent."""
        form = FORMS[self.form]
        truth = form.truth(self.thing)
        target = truth if form.kind == "Numerical" else [str(truth)]
        return Sample(self.id, self.text, (), target, metadata={"question_type": form.kind})


@cache
def cases(made: World, count: int) -> tuple[Case, ...]:
    """So many cases, the forms in turn; in every second round of forms the thing stands among two others."""
    chance = random.Random(f"cases {len(made.things)}")
    return tuple(_case(number, made, chance) for number in range(count))


def _case(number: int, made: World, chance: random.Random) -> Case:
    form = list(FORMS)[number % len(FORMS)]
    thing = chance.choice(made.things)
    text = FORMS[form].text.format(f"this {thing.kind}")
    crowd = [thing]
    if number // len(FORMS) % 2:
        others = [other for other in made.things if other.kind != thing.kind]
        crowd += chance.sample(others, 2)
        chance.shuffle(crowd)
    picture, boxes = row([view(each, str(number)) for each in crowd])
    labelled = tuple((each.kind, box) for each, box in zip(crowd, boxes, strict=True))
    return Case(f"{number}", form, thing, text, picture, labelled)


# ---- Scripted roles and tools that look things up in the encyclopaedia, and err at rates that are set.
# ----
# ---- What is assumed, and so what no result of this world can show: that errors are independent from step to step; that a
# ---- planner who errs takes any step that is offered; that a reasoner reads the wording of the articles and is misled only by
# ---- chance; that a decomposer makes no mistake. Facts of two articles need two searches, the second for a name that
# ---- the first one brought: no fixed row of tools makes it, and so a row fails at those questions by construction.


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
_NOTHING = "Verdict: not informative"


@dataclass(frozen=True, slots=True)
class Rates:
    """Rates of error, each from 0 to 1; recognised and misnamed are of a look by `vqa`, which else tells the kind."""

    planner: float = 0.2  # takes any offered step, or asks what was asked before
    malformed: float = 0.05  # of every role's replies
    misread: float = 0.1  # a reasoner overlooks what it was looking for
    misled: float = 0.1  # a reasoner takes what is about something else
    selector: float = 0.15
    detector: float = 0.15  # a wrong label
    recognised: float = 0.15
    misnamed: float = 0.25
    remembered: float = 0.1  # a fact that `llm_qa` knows
    invented: float = 0.2  # one that it makes up


class RoleModel:
    """Plays every role of one question through the strategy's own prompts."""

    def __init__(self, case: Case, rates: Rates, seed: int = 0) -> None:
        self._case, self._rates, self._seed = case, rates, seed
        self._calls = 0

    @property
    def name(self) -> str:
        return "player"

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """What the role of the prompt says."""
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
                return Reply(self._plan(sections, "It is the visual part" in opening, chance))
            case "# Choose an object":
                return Reply(self._select(sections, chance))
            case "# Judge what a tool found in the picture":
                return Reply(self._seen(sections, tool, chance))
            case "# Judge what a tool found out":
                return Reply(self._read(sections, tool, chance))
            case _:
                return Reply(self._guessed(sections))

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Reply]:
        yield from in_one_piece(self.complete(messages, sampling))

    def _parts(self) -> str:
        kind = self._case.thing.kind
        return f"Visual: which {kind} is this?\nKnowledge: {FORMS[self._case.form].text.format('#')}"

    def _plan(self, sections: Mapping[str, str], is_visual: bool, chance: random.Random) -> str:  # noqa: FBT001
        offered = re.findall(r"^- (\w+):", sections["actions"], re.MULTILINE)
        context = sections.get("context", "")
        if chance.random() < self._rates.planner:
            return f"Action: {chance.choice(offered)}"
        person = None if is_visual else _RECORDED.search(context)
        wanted = _looks(context) if is_visual else ["web_search", "llm_qa"]
        query = f"\nQuery: {person[2]}" if person else ""
        return f"Action: {next((name for name in wanted if name in offered), offered[0])}{query}"

    def _select(self, sections: Mapping[str, str], chance: random.Random) -> str:
        labels = re.findall(r"Object #(\d+) \[\n\s*(\w+) \(Caption", sections["objects"])
        if not labels or chance.random() < self._rates.selector:
            return f"Object: {chance.choice(labels)[0] if labels else 0}"
        fitting = [number for number, label in labels if label == self._case.thing.kind]
        return f"Object: {(fitting or ['0'])[0]}"

    def _seen(self, sections: Mapping[str, str], tool: str, chance: random.Random) -> str:
        """Of titles the first one that is of the kind asked for counts; of an object its label."""
        text, kind = sections["observation"], self._case.thing.kind
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

    def _read(self, sections: Mapping[str, str], tool: str, chance: random.Random) -> str:
        """Of passages the one about the thing, or about the person that the thing's article names."""
        if tool == "llm_qa":
            said = re.search(r"It is (.+)\.", sections["observation"])
            return _answerable(said[1]) if said and chance.random() >= self._rates.misread else _NOTHING
        if chance.random() < self._rates.misread:
            return _NOTHING
        passages = dict(_PASSAGE.findall(sections["observation"]))
        if passages and chance.random() < self._rates.misled:
            passages = dict.fromkeys((_about(sections["query"]),), chance.choice(list(passages.values())))
        return self._find(_about(sections["query"]), sections["known"], passages) or _NOTHING

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

    def _guessed(self, sections: Mapping[str, str]) -> str:
        """From all that was seen: the first title of the kind that has a passage with the fact in it."""
        text = sections.get("observation") or sections.get("seen", "")
        passages = dict(_PASSAGE.findall(text))
        names = [title for _, title, kind in _RETRIEVED.findall(text) if kind == self._case.thing.kind]
        asked = [_about(sections["query"])] if "query" in sections else []
        for name in (*asked, *names, *passages):
            found = self._find(name, sections.get("known", ""), passages)
            if found and "Answer: " in found:
                return "Answer: " + found.rpartition("Answer: ")[2]
        return "Answer: unknown"


@dataclass(frozen=True, slots=True)
class Scripted:
    """A tool of one question whose mistakes are drawn by what it is asked."""

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
                return _format(self._recalled(chance))

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
        thing, drawn = self.case.thing, chance.random()
        if drawn < self.rates.recognised:
            return f"the {thing.kind} {thing.name}"
        if drawn < self.rates.recognised + self.rates.misnamed:
            other = chance.choice(self.made.things).name if chance.random() < 0.5 else "Nowhere Such"
            return f"the {thing.kind} {other}"
        return f"some {thing.kind}"

    def _recalled(self, chance: random.Random) -> str:
        form, drawn = FORMS[self.case.form], chance.random()
        if drawn < self.rates.remembered:
            return f"It is {form.truth(self.case.thing)}."
        if drawn < self.rates.remembered + self.rates.invented:
            return f"It is {form.truth(chance.choice(self.made.things))}."
        return "I do not know."


def scripted_tools(case: Case, made: World, rates: Rates) -> dict[str, Tool]:
    """Those that are not searches."""
    return {name: Scripted(name, case, made, rates) for name in ("vqa", "llm_qa", "detect")}


def _looks(context: str) -> list[str]:
    """The steps that a planner without errors would take to look: an object where there are several, else the whole."""
    if "Object #" in context and "Object #1:" not in context:  # one is chosen
        return ["image_search", "vqa"]
    looks = ["identical_image_search", "object_select", "vqa"]
    return sorted(looks, key=lambda name: name != "object_select") if "Object #2:" in context else looks


def _about(query: str) -> str:
    """The name in a knowledge question, or the query as it is."""
    first = query.partition("\n")[0]
    found = re.search(r"(?:recorded|does|was|recorder of) ((?:[A-Z]\w+ ?)+)", first)
    return found[1].strip() if found else first


def _answerable(answer: str) -> str:
    return f"Finding: it is {answer}\nVerdict: answerable\nAnswer: {answer}"


def _format(text: str) -> Observation:
    return Observation(text, {"answer": text})
