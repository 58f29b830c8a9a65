"""The roles of all strategies, each with its generated replies, and the decision that it takes when it gets one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from benchmarks.reply_styles import cases, forms
from benchmarks.reply_styles.cases import CHOICES, EXECUTED, QUESTION, SIGNATURE, SUCCESSORS, Case
from pyvision.agent.budget import Limits
from pyvision.agent.episode import Episode
from pyvision.agent.strategy import Strategy
from pyvision.errors import ToolError
from pyvision.images.read import decode
from pyvision.models.scripted import Scripted
from pyvision.strategies.avis import roles as avis
from pyvision.strategies.avis.memory import Memory, SearchNode, StepFinding
from pyvision.strategies.avis.perception import DetectedObject
from pyvision.strategies.bdog import roles as bdog
from pyvision.strategies.bdog.debate import GraphGenerator
from pyvision.strategies.bdog.graphs import Graph
from pyvision.strategies.code_loop import CodeLoop
from pyvision.strategies.direct import Direct
from pyvision.strategies.vdebugger import roles as vdebugger
from pyvision.strategies.vdebugger.execution import Execution
from pyvision.strategies.vdebugger.programs import canonical, query_of
from pyvision.strategies.vdebugger.trace_format import blocks_of
from pyvision.strategies.vdebugger.verdicts import Verdict
from pyvision.tools.perception import model as tools
from pyvision.types import Message, Picture, Question, Reply, Tool, ToolRequest
from sandbox import CellResult, Trace

_PNG = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00"
    b"\x00\rIDATx\x9cc\xf8\xff\xff?\x03\x00\x08\xfc\x02\xfe\xa7\x9a\xa0\xa0\x00\x00\x00\x00IEND\xaeB`\x82"
)


class AskedAgainError(Exception):
    """The role was asked a second time."""


@dataclass(frozen=True, slots=True)
class Role:
    """styles: of its replies. write: the reply number n and its decision. take: the decision that the role takes."""

    styles: int
    write: Callable[[random.Random, int], Case]
    take: Callable[[str], str | None]

    def cases(self, count: int, seed: int = 0) -> Iterator[Case]:
        """All styles in turn, with decisions drawn from a seed."""
        draw = random.Random(seed)
        return (self.write(draw, number) for number in range(count))


class CellRanError(Exception):
    """A cell was run; the message is its code."""


class Cells:
    """A sandbox, and its session, that only shows what would run."""

    libraries: tuple[str, ...] = ()

    def warm_up(self) -> None:
        """There is nothing to start."""

    def open(self, images: object) -> Cells:
        return self

    def run(self, code: str, **_: object) -> CellResult:
        raise CellRanError(code)

    def define(self, images: object, views: object = None) -> None:
        """Nothing looks at them."""

    def interrupt(self) -> None:
        """No cell runs."""

    def close(self) -> None:
        """Nothing is open."""


def _picture() -> Picture:
    return decode(_PNG, "benchmark")


def _episode(reply: str, question: Question) -> Episode:
    return Episode(
        question, {"default": Scripted((reply, AskedAgainError()))}, Limits(), Cells(), lambda _: None
    )


def _question(choices: Sequence[str] = ()) -> Question:
    return Question(QUESTION, (_picture(),), choices=tuple(choices))


def _solve(strategy: Strategy, reply: str) -> str | None:
    question = _question()
    answer = strategy.solve(question, _episode(reply, question))
    return None if answer.is_last_resort else answer.text


def _moderate(reply: str) -> str | None:
    question = _question(CHOICES)
    client = bdog.RoleClient(bdog.parse_choices(question), (), _episode(reply, question), {})
    return bdog.decide(
        client, "moderator", "moderator", question=QUESTION, affirmative="{}", negative="{}"
    ).answer.text


def _forced(reply: str) -> str | None:
    question = _question()
    trace = avis.SearchTrace(question, Memory(SearchNode("knowledge", QUESTION)), (), ())
    answer = avis.give_best("the budget is spent", "turn_limit", trace, _episode(reply, question))
    return None if answer.is_last_resort else answer.text


def _enough(reply: str) -> str | None:
    question, node = _question(), _known_node()
    answer = avis.answer_from_known(question, node, Memory(node), _episode(reply, question))
    return answer.text if answer else None


def _tool(tool: Tool, request: ToolRequest) -> Callable[[str], str | None]:
    """What a tool makes of its model's reply."""

    def take(reply: str) -> str | None:
        model = Scripted((reply, AskedAgainError()))

        def ask(role: str, messages: Sequence[Message]) -> Reply:
            return model.complete(messages, forms.NO_SAMPLING)

        try:
            return tool(request, ask).text
        except ToolError:
            return None

    return take


def _known_node() -> SearchNode:
    found = StepFinding(1, "image_search", "it resembles Vell Lighthouse")
    return SearchNode("knowledge", QUESTION, "image_search", (found,))


def _take_plan(reply: str) -> str | None:
    episode = _episode(reply, _question())
    planner = avis.Planner(episode, {}, 0, lambda plan, node: False)
    plan = planner.plan(_known_node(), SUCCESSORS, (), may_end=True)
    if plan is None:
        return "enough"
    return plan.action if plan.query is None else f"{plan.action}: {plan.query}"


def _decompose(reply: str) -> str | None:
    question = _question()
    parts = avis.decompose(question, _episode(reply, question))
    return f"{parts.visual} / {parts.knowledge or '#'}"


def _select(reply: str) -> str | None:
    objects = [DetectedObject(number, "dog", "left", _picture()) for number in range(1, 5)]
    node = SearchNode("visual", QUESTION)
    found, _ = avis.choose(node, objects, _episode(reply, _question()))
    return str(found.number) if found else "0"


def _judge(reply: str) -> str | None:
    node = _known_node()
    evidence = avis.ToolEvidence(QUESTION, "web_search", "Title: Vell Lighthouse", (1,))
    memory = Memory(node)
    memory.number(forms.SOURCES)
    found = avis.judge(evidence, node, memory, _episode(reply, _question()))
    return f"{found.ruling}{f': {found.answer}' if found.answer is not None else ''} [{found.finding}]"


def _client(reply: str, *, corrects: bool = False) -> vdebugger.RoleClient:
    question = _question()
    return vdebugger.RoleClient(_episode(reply, question), query_of(question), corrects=corrects)


def _draft(reply: str) -> str | None:
    try:
        program = vdebugger.draft(_client(reply))
    except vdebugger.RefusalError:
        return "(refused)"
    return canonical(program, SIGNATURE).text if program is not None else None


_RAN = Execution(EXECUTED, "error", error="IndexError", steps=Trace(()))


def _refine(reply: str) -> str | None:
    program = vdebugger.refine(_client(reply), _RAN, Verdict("wrong", is_accepted=False))
    return canonical(program, SIGNATURE).text if program is not None else None


def _critique(reply: str) -> str | None:
    found = vdebugger.critique(_client(reply), _RAN, None)
    marked = ", ".join(EXECUTED[span.start : span.end] for span in found.marks.spans)
    return None if found.word == "unclear" else f"{found.word}: {marked}".rstrip(": ")


def _correct(reply: str) -> str | None:
    """The marks and the program of a critic that is also the refiner, which is asked where there is no program."""
    found = vdebugger.critique(_client(reply, corrects=True), _RAN, None)
    if found.correction is None:
        raise AskedAgainError
    marked = ", ".join(EXECUTED[span.start : span.end] for span in found.marks.spans)
    return f"{found.word}: {marked}\n{canonical(found.correction, SIGNATURE).text}"


def _judge_blocks(reply: str) -> str | None:
    found = vdebugger.judge_blocks(_client(reply), _RAN, None)
    if found.word == "unclear":
        return None
    starts = [forms.block_start(EXECUTED, block) for block in blocks_of(EXECUTED)]
    return str(starts.index(found.marks.spans[0].start) + 1) if found.marks.spans else "none"


def _self_debug(reply: str) -> str | None:
    verdict, program = vdebugger.self_debug(_client(reply), _RAN)
    if verdict.is_accepted:
        return "right"
    return canonical(program, SIGNATURE).text if program is not None else None


def _debate(role: str, reply: str) -> str | None:
    question = _question()
    client = bdog.RoleClient(bdog.parse_choices(question), (), _episode(reply, question), {})
    graph = GraphGenerator(client, 20, with_choices=False).generate(role, Graph(), round_=1)
    names = {node.id: node.name for node in graph.nodes}
    items = [f"{n.name}: {', '.join(f'{key}={value}' for key, value in n.attributes)}" for n in graph.nodes]
    edges = [f"{names[edge.source]} {edge.relation} {names[edge.target]}" for edge in graph.edges]
    return "; ".join([*sorted(items), *edges]) if graph else None


def _run_cell(reply: str) -> str | None:
    try:
        return f"(answer) {_solve(CodeLoop(), reply)}"
    except CellRanError as ran:
        return str(ran).strip("\r\n ").replace("\r\n", "\n")


_LOOK = ToolRequest("What is it?", _picture(), {"property": "red"})
_ANSWERS, _FIELDS = len(forms.ANSWERS_IN), len(forms.FIELDS_IN)
ROLES: Mapping[str, Role] = {
    "direct: solver": Role(_ANSWERS, cases.answer, partial(_solve, Direct())),
    "code_loop: answer": Role(_ANSWERS, cases.answer, partial(_solve, CodeLoop())),
    "code_loop: cell": Role(len(forms.CELLS_IN), cases.cell, _run_cell),
    "vdebugger: coder": Role(len(forms.PROGRAMS_IN), cases.draft, _draft),
    "vdebugger: critic": Role(len(forms.WRONG_IN), cases.verdict, _critique),
    "vdebugger: corrector": Role(len(forms.WRONG_IN), cases.correction, _correct),
    "vdebugger: refiner": Role(len(forms.PROGRAMS_IN), cases.draft, _refine),
    "vdebugger: per_block": Role(len(forms.BLOCKS_IN), cases.blocks, _judge_blocks),
    "vdebugger: self_debug": Role(len(forms.PROGRAMS_IN), cases.self_debug, _self_debug),
    "avis: planner": Role(cases.PLANS, cases.plan, _take_plan),
    "avis: decomposer": Role(_FIELDS, cases.decomposition, _decompose),
    "avis: selector": Role(_FIELDS, cases.chosen_object, _select),
    "avis: reasoner": Role(_FIELDS, cases.judgement, _judge),
    "avis: enough": Role(_ANSWERS, cases.answer, _enough),
    "avis: forced": Role(_ANSWERS, cases.answer, _forced),
    "bdog: moderator": Role(_ANSWERS, cases.choice, _moderate),
    "bdog: blueprint": Role(forms.GRAPHS, cases.graph, partial(_debate, "blueprint")),
    "bdog: proponent": Role(forms.GRAPHS, cases.graph, partial(_debate, "proponent")),
    "bdog: opponent": Role(forms.GRAPHS, cases.graph, partial(_debate, "opponent")),
    "tool: verify": Role(len(forms.TRUTHS_IN), cases.truth, _tool(tools.verify(""), _LOOK)),
    "tool: vqa": Role(_ANSWERS + len(forms.BARE_IN), cases.short_answer, _tool(tools.vqa(""), _LOOK)),
    "tool: llm": Role(
        _ANSWERS + len(forms.BARE_IN), cases.short_answer, _tool(tools.llm_qa(""), ToolRequest("What is it?"))
    ),
}
