"""Generated conversations over tool calls or text: scripted models with bad habits, and figures with numerals in them.

The model behind the server reads the numeral of each figure from the request as the endpoint passes it on, so that a
figure that is lost, or that stands in a place which the endpoint ignores, gives a wrong answer.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Literal

from PIL import Image, ImageDraw, ImageFont

from pyvision.agent.budget import Limits
from pyvision.agent.episode import Episode
from pyvision.events import CellRun, Event, ImageDefined, ModelCall
from pyvision.models.factory import build, endpoint_limits
from pyvision.strategies.code_loop import CodeLoop
from pyvision.strategies.code_loop.protocol import ProtocolChoice
from pyvision.types import Answer, ConversationState, Question
from sandbox import CellError, CellResult, Figure, Output, Stream
from tests.doubles import CannedSandbox, picture
from tests.servers.conversation import Request, ServedCall, ServedReply, WireName
from tests.servers.eyes import numerals
from tests.servers.faults import FAULTS, Plan
from tests.servers.server import ModelServer
from tests.servers.strict import Strictness
from tests.servers.wires import configured

CONVERSATIONS: tuple[WireName, ...] = ("completions", "responses", "messages", "gemini", "interactions")
_HABITS = ("plain", "plain", "plain", "parallel", "text", "unknown tool", "malformed", "cut", "fenced")


@dataclass(frozen=True, slots=True)
class Plot:
    """One conversation: the habit of each turn, and the numeral that its cell shows, if it draws one."""

    seed: int
    habits: tuple[str, ...]
    numbers: tuple[str | None, ...]
    reasons: bool
    in_results: bool | None  # where pictures may stand; None: as the API has it
    busy: tuple[int, ...]  # requests that fail once

    @classmethod
    def drawn(cls, seed: int, turns: int | None = None) -> Plot:
        """A plot by chance."""
        chance = random.Random(seed)
        drawn = [chance.choice(_HABITS) for _ in range(turns or chance.randint(1, 4))]
        habits = tuple(  # two cuts in a row end a run
            "plain" if drawn[at - 1 : at] == ["cut"] and habit == "cut" else habit
            for at, habit in enumerate(drawn)
        )
        numbers = tuple(chance.choice([None, str(chance.randint(1000, 9999))]) for _ in habits)
        busy = tuple(at for at in range(len(habits)) if chance.random() < 0.15)
        return cls(seed, habits, numbers, chance.random() < 0.6, chance.choice([None, None, False]), busy)


@dataclass(slots=True)
class Actor:
    """The model behind the server: plays the plot, then answers with every numeral that it has seen."""

    plot: Plot
    protocol: str
    wire: WireName
    turn: int = 0
    seen: list[str] = field(default_factory=list)
    pictures: int = 0

    def __call__(self, request: Request) -> ServedReply:
        shown = request.pictures[self.pictures :]
        self.pictures = len(request.pictures)
        self.seen += [number for each in shown for number in numerals(each)]
        turn, self.turn = self.turn, self.turn + 1
        reasoning = f"thought {turn}" if self.plot.reasons else ""
        seal = f'seal-{self.plot.seed}-{turn}-é\\"+/=='
        if turn >= len(self.plot.habits):
            return ServedReply(
                f"<answer>\\boxed{{{' '.join(self.seen) or 'none'}}}</answer>", reasoning=reasoning
            )
        habit = self.plot.habits[turn]
        if self.protocol == "text" or habit == "text":
            text = f"I look.\n<code>\n```python\ncell({turn})\n```\n</code>"
            return ServedReply(text, reasoning=reasoning, seal=seal)
        finish: Literal["length", "end"] = "length" if habit == "cut" else "end"
        calls = tuple(self._calls(turn, habit))
        return ServedReply("I look.", finish, reasoning=reasoning, seal=seal, calls=calls)

    def _calls(self, turn: int, habit: str) -> Iterator[ServedCall]:
        code, free = f"cell({turn})", self.wire == "responses"
        name = f"call_{self.plot.seed}_{turn}"
        match habit:
            case "unknown tool":
                yield ServedCall(f"{name}_0", '{"query": "cats"}', "web_search")
            case "malformed":
                yield ServedCall(f"{name}_0", '{"code": "cell(')
            case "cut":
                yield ServedCall(f"{name}_0", "cell(" if free else '{"code": "cell(', is_free_form=free)
            case "fenced":
                yield ServedCall(f"{name}_0", json.dumps({"code": f"```python\n{code}\n```"}))
            case _:
                yield ServedCall(f"{name}_0", code if free else json.dumps({"code": code}), is_free_form=free)
        if habit == "parallel":
            yield ServedCall(f"{name}_1", json.dumps({"code": "more()"}))


class DrawingSandbox(CannedSandbox):
    """A sandbox whose cells show the numerals of a plot."""

    def __init__(self, plot: Plot) -> None:
        super().__init__([CellResult("ok")])
        self._plot = plot

    def run(self, code: str, **options: object) -> CellResult:
        self.cells.append(code)
        if not code.startswith("cell("):
            return CellResult("error", error=CellError("NameError", "more", 1, "NameError: more"))
        turn = int(code[5:-1])
        number = self._plot.numbers[turn]
        outputs: list[Output] = [Stream("stdout", f"cell {turn}\n")]
        if number is not None:
            outputs.append(Figure(numeral(number), "image/png", 160, 60))
        if turn % 3 == 2:  # it fails after it has drawn
            return CellResult("error", tuple(outputs), CellError("E", "no", 1, "E: no"))
        return CellResult("ok", tuple(outputs))


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a conversation. rejected: the complaints of the server. bodies: the requests, in order."""

    answer: Answer
    expected: str
    cells: tuple[str, ...]
    figures: tuple[str, ...]
    rejected: tuple[str, ...]
    events: tuple[Event, ...]
    requests: tuple[Request, ...]

    @property
    def faults(self) -> tuple[str, ...]:
        """What is not as it should be."""
        found = [f"rejected: {why}" for why in self.rejected]
        if self.answer.text != self.expected:
            found.append(
                f"answered {self.answer.text!r} ({self.answer.end_reason}) instead of {self.expected!r}"
            )
        sent = {each.name for event in self.events if isinstance(event, ModelCall) for each in event.sent}
        found += [f"{name} was never sent" for name in self.figures if name not in sent]
        return tuple(found)


def play(
    plot: Plot,
    wire: WireName,
    protocol: ProtocolChoice,
    *,
    earlier: ConversationState = ConversationState(),  # noqa: B008 - a frozen value
    **limits: int,
) -> Played:
    """One conversation over a wire, in a protocol, from the question to the answer; earlier: what it continues."""
    strict, sandbox, events = (
        Strictness(pictures_in_results=plot.in_results),
        DrawingSandbox(plot),
        list[Event](),
    )
    placement = "after_result" if plot.in_results is False else None
    weather = Plan(
        [FAULTS["429 retry-after 0"] if at in plot.busy else None for at in range(len(plot.habits))]
    )
    with ModelServer(Actor(plot, protocol, wire), strict=strict, weather=weather) as server:
        config = configured(wire, server, image_placement=placement)
        with closing(build(config)) as model:
            question = Question("Which numbers are in the figures?", (picture(),), earlier=earlier)
            episode = Episode(
                question,
                {"default": model},
                Limits(**limits),
                sandbox,
                events.append,
                accepts={"default": endpoint_limits(config, None)},
            )
            answer = CodeLoop(protocol=protocol, repairs=9).solve(question, episode)
        requests = tuple(server.requests)
    ran = [code for code in sandbox.cells if code.startswith("cell(")]
    expected = " ".join(filter(None, (plot.numbers[int(code[5:-1])] for code in ran))) or "none"
    figures = tuple(event.name for event in events if isinstance(event, ImageDefined))
    cells = tuple(event.code for event in events if isinstance(event, CellRun))
    return Played(answer, expected, cells, figures, tuple(strict.rejected), tuple(events), requests)


def numeral(number: str) -> bytes:
    """A PNG file with a number in it."""
    canvas = Image.new("L", (160, 60), "white")
    ImageDraw.Draw(canvas).text((10, 5), number, fill="black", font=ImageFont.load_default(40))
    file = io.BytesIO()
    canvas.save(file, "PNG")
    return file.getvalue()
