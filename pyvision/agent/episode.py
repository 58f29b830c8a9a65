"""What a strategy works with while it answers one question: models, cells, tools, within its budgets."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

from pyvision.agent.budget import Budget, Limits
from pyvision.agent.question_kernel import QuestionKernel, Sandbox, Session, find_libraries, run_interruptibly
from pyvision.agent.role_models import DEFAULT_ROLE, RoleModels
from pyvision.config.endpoints import EndpointLimits
from pyvision.errors import (
    ConfigError,
    EndReason,
    ImageError,
    PyVisionError,
    ToolError,
)
from pyvision.events import (
    CellOutput,
    CellRun,
    Event,
    ImageDefined,
    Note,
    Sent,
    ToolRun,
)
from pyvision.images.read import decode
from pyvision.models.cancellation import Cancellation, PendingWork
from pyvision.types import (
    Message,
    Model,
    Observation,
    Picture,
    Question,
    Reply,
    Sampling,
    Tool,
    ToolOffer,
    ToolRequest,
    Usage,
)
from sandbox import CellResult, Figure, HostFunction, Region, View

if TYPE_CHECKING:
    from pyvision.agent.tool_cache import ToolCache
    from pyvision.config.prices import Price

__all__ = ["DEFAULT_ROLE", "Episode", "Limits", "Sandbox", "Session", "find_libraries"]


@dataclass(slots=True)
class _Cell:
    """The cell that is running. ended_by: what a tool raised in it that ends the question."""

    ended_by: PyVisionError | None = None


class Episode:
    """The verbs of a strategy: ask a model, run a cell, call a tool, name figures, note a remark.

    Opens the kernel on the first `run` and keeps it until `close`. Every verb becomes an event. One thread may use it
    at a time, except that functions of a cell may use it while `run` waits for that cell.
    """

    def __init__(  # noqa: PLR0913 - each is one thing that a question is answered with
        self,
        question: Question,
        models: Mapping[str, Model],
        limits: Limits,
        sandbox: Sandbox,
        watch: Callable[[Event], None],
        *,
        accepts: Mapping[str, EndpointLimits] | None = None,
        prices: Mapping[str, Price] | None = None,
        tools: Mapping[str, Tool] | None = None,
        cancellation: Cancellation | None = None,
    ) -> None:
        """accepts: role -> what its endpoint takes, as `models` names roles. prices: model name -> price.

        cancellation: ends the episode: the cell that runs, with its kernel, the request under way, and every verb.
        """
        self.question = question
        self.cells = 0
        self._budget = Budget(limits)
        self._tools = tools or {}
        self._kernel = QuestionKernel(question, sandbox)
        self._watch = watch
        self._cell: _Cell | None = None  # while one runs
        self._cancellation = cancellation or Cancellation()
        self._waiting = PendingWork(self._cancellation)
        self._models = RoleModels(
            models,
            accepts or {},
            prices or {},
            question.originals,
            self._budget,
            self._cancellation,
            self._waiting,
            watch,
        )
        self._findings: dict[str, Any] = {}

    @property
    def sent_images(self) -> Mapping[str, Sent]:
        """The images by name, each as a model saw it last."""
        return self._models.sent_images

    @property
    def figures(self) -> Mapping[str, tuple[Region, ...]]:
        """The figures defined so far, in their order, each with what the code in the kernel says that it shows."""
        return self._kernel.figures

    @property
    def interruption(self) -> str:
        """The report of an interrupt: that the episode was stopped, and what it was waiting for."""
        return f"stopped while waiting for {self._waiting.what}" if self._waiting.what else "stopped"

    @property
    def limits(self) -> Limits:
        return self._budget.limits

    @property
    def usage(self) -> Usage:
        return self._budget.usage

    @property
    def cost(self) -> float | None:
        return self._budget.cost

    @property
    def seconds(self) -> float:
        return self._budget.seconds

    @property
    def turns(self) -> int:
        return self._budget.turns

    @property
    def turns_left(self) -> int:
        return self._budget.turns_left

    def ask(  # noqa: PLR0913 - what a strategy may choose about a reply
        self,
        role: str,
        messages: Sequence[Message],
        *,
        stop: tuple[str, ...] = (),
        logprobs: bool = False,
        tools: tuple[ToolOffer, ...] = (),
        may_call: bool = True,
    ) -> Reply:
        """One reply of the model of this role, to the conversation packed for its endpoint (`agent.context`).

        tools: what it may call; if not `may_call`, they are only there for a prefix that does not change.
        Raises LimitReached when a budget is spent or the conversation is too long, ModelError when the endpoint fails.
        """
        choice: Literal["auto", "none"] = "auto" if may_call else "none"
        return self._models.ask(
            role, messages, Sampling(stop=stop, logprobs=logprobs, tools=tools, tool_choice=choice)
        )

    def calls_tools(self, role: str) -> bool:
        """Whether the model of this role is known to handle tools better than code in its text."""
        return self._models.window(role).accepts.calls_tools

    def plays_both(self, role: str, other: str) -> bool:
        """Whether one model plays both roles."""
        return self._models.model_of(role) is self._models.model_of(other)

    def expect_code(self) -> tuple[str, ...]:
        """Start what cells need while the model thinks; the libraries that they can import.

        Raises sandbox.SandboxError if no cell can run, before the model has cost anything.
        """
        self._kernel.sandbox.warm_up()
        return find_libraries(self._kernel.sandbox)

    def run(
        self,
        code: str,
        *,
        trace: bool = False,
        tools: Sequence[str] = (),
        functions: Mapping[str, HostFunction] | None = None,
    ) -> CellResult:
        """Run one cell in the question's kernel, which holds its images. What the code does is data.

        Text becomes a `CellOutput` as it arrives, on the thread that reads the kernel; the `CellRun` holds all of it.

        trace: record which lines ran, and what they changed. tools: the names of tools that the cell may call as
        `host.NAME(…)`. functions: other functions that it may call like this; they run while the cell waits, may call
        `call_tool`, and what they raise is raised in the cell.
        Raises LimitReached when time is spent, sandbox.SandboxError if there is no kernel; and after the cell what
        `call_tool` raised in it, since a cell that catches a spent budget must not run forever.
        """
        self._check_time()
        session = self._open_session()
        self._check_time()  # opening may have taken a while
        if tools:
            from pyvision.tools.cell_functions import host_functions

            functions = host_functions(self.call_tool, tools) | dict(functions or {})
        run = partial(
            session.run,
            code,
            trace=trace,
            functions=functions or None,
            on_output=lambda text: self._watch(CellOutput(text)),
        )
        self._cell = _Cell()
        try:
            with self._waiting("a cell"), self._cancellation.on_cancel(session.close):
                result = run_interruptibly(session, run, partial(self._record_cell, code))
        finally:
            cell, self._cell = self._cell, None
        if cell.ended_by is not None:
            raise cell.ended_by
        return result

    def _record_cell(self, code: str, result: CellResult) -> None:
        self.cells += 1
        self._watch(CellRun(code, result))

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools that `call_tool` knows, by name."""
        return self._tools

    def call_tool(self, tool: str, request: ToolRequest) -> Observation:
        """The observation of a tool; if the tool fails, the observation says why.

        A repeatable tool is asked once for an identical request (`agent.tool_cache`); each call counts.
        Raises LimitReached when time or calls are spent or a model that it asks has no budget left, ModelError when
        that model's endpoint fails, and ConfigError for a tool that does not exist or that the user has to fix. The
        first of these that a cell causes ends the question after the cell; until then further calls raise ToolError.
        """
        cell = self._cell
        if cell is None:
            return self._call_tool(tool, request)
        if cell.ended_by is not None:
            raise ToolError("the run is ending; tools can no longer be used")
        try:
            return self._call_tool(tool, request)
        except PyVisionError as error:
            cell.ended_by = error
            raise

    @cached_property
    def _tool_cache(self) -> ToolCache:
        from pyvision.agent.tool_cache import ToolCache

        return ToolCache(self.question.images)

    def _call_tool(self, tool: str, request: ToolRequest) -> Observation:
        self._check_time()
        known = self._tools.get(tool)
        if known is None:
            raise ConfigError(
                f"no tool {tool!r} is set up; available tools: {', '.join(self._tools) or 'none'}"
            )
        self._budget.use()
        began = time.monotonic()
        request = self._tool_cache.restore(request)
        cached = self._tool_cache.find(known, request)
        observation = cached or self._observe(tool, request)
        self._watch(ToolRun(tool, request, observation, time.monotonic() - began, cached is not None))
        return observation

    def _observe(self, tool: str, request: ToolRequest) -> Observation:
        try:
            with self._waiting(f"the tool {tool}"):
                ask = partial(self._models.ask, sampling=Sampling(), for_tool=True)
                observation = self._tools[tool](request, ask)
        except ToolError as error:
            return Observation(error=str(error))
        self._tool_cache.keep(self._tools[tool], request, observation)
        return observation

    def define_images(self, figures: Sequence[Figure]) -> tuple[tuple[str, Picture], ...]:
        """Give figures the next free names `image_clue_k`, also as variables in the kernel.

        A figure that is not a readable image is left out and noted.
        """
        named: list[tuple[str, Picture]] = []
        for figure in figures:
            try:
                picture = decode(figure.data, "figure")
            except ImageError as error:
                self.note("figure_refused", why=str(error))
                continue
            self._open_session()
            name = self._kernel.define(picture, figure.regions)
            self._watch(ImageDefined(name, picture))
            named.append((name, picture))
        return tuple(named)

    def views(self, role: str, images: Sequence[tuple[str, Picture]]) -> Mapping[str, View]:
        """How these images are sent to the model of this role, and what they show if they are figures.

        The helpers in the kernel learn it too: there it is how "the" model sees them. Raises ImageError.
        """
        window = self._models.window(role)
        sent = {name: window.fit(picture) for name, picture in images}
        return self._kernel.show(
            {
                name: (each.picture.width, each.picture.height, each.scale_x, each.scale_y)
                for name, each in sent.items()
            }
        )

    def note(self, label: str, **data: Any) -> None:
        """Record a remark about the progress of the strategy; the data must be plain values."""
        self._watch(Note(label, data))

    def keep_finding(self, label: str, value: Any) -> None:
        """Keep what the strategy found besides the answer, as plain values; the last value of a label counts."""
        self._findings[label] = value

    @property
    def findings(self) -> Mapping[str, Any]:
        """What was found so far; it is part of the outcome, whatever ends the question."""
        return dict(self._findings)

    def last_call(self) -> EndReason | None:
        """The budget that allows only one more reply, or None while there is room for more."""
        return self._budget.nearly_spent()

    def use(self, tool: str, request: ToolRequest) -> Observation:
        """The former name of `call_tool`."""
        _warn_renamed("use", "call_tool")
        return self.call_tool(tool, request)

    def define(self, figures: Sequence[Figure]) -> tuple[tuple[str, Picture], ...]:
        """The former name of `define_images`."""
        _warn_renamed("define", "define_images")
        return self.define_images(figures)

    def close(self) -> None:
        """End the kernel, if there is one."""
        self._kernel.close()

    def _open_session(self) -> Session:
        with self._waiting("a kernel"):
            return self._kernel.open()

    def _check_time(self) -> None:
        self._cancellation.check()
        if time.monotonic() >= self._budget.deadline:
            self._budget.check_time()


def _warn_renamed(old: str, new: str) -> None:
    warnings.warn(f"Episode.{old} is now Episode.{new}", DeprecationWarning, stacklevel=3)
