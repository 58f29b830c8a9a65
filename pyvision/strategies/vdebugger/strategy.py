"""The strategy and its options; `mode` chooses the whole method or what it is measured against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from pyvision.agent.episode import Episode
from pyvision.errors import ConfigError
from pyvision.strategies.vdebugger.answers import Origin
from pyvision.strategies.vdebugger.debugging import DebugConfig, DebugLoop, Mode
from pyvision.strategies.vdebugger.execution import Executor
from pyvision.strategies.vdebugger.role_client import RoleClient, Style
from pyvision.strategies.vdebugger.services import TOOLS
from pyvision.strategies.vdebugger.task_types import FormName, query_of
from pyvision.strategies.vdebugger.trace_format import Keep
from pyvision.types import Answer, Question


@dataclass(frozen=True, slots=True)
class VDebugger:
    """Visual programs, traced, criticised and refined (arXiv 2406.13444).

    mode: `none` runs the first program; `without_feedback` shows critic and refiner the program alone; `self_debug`
    lets the coder judge itself; `per_block` judges block by block.
    threshold: the score above which a program is accepted where the endpoint tells log probabilities (th of
    Algorithm 1, unnamed in the paper; 0.5 is what its code amounts to); none: by the critic's word alone.
    constrain: the refiner may change only lines that were marked. fallback: a program that fails is replaced by the
    plain question for the answer, never in a trace. keep: which end of a trace longer than feedback_chars is kept.
    crop_margin_px: by which crops and detections grow. box_origin: from which corner the answer counts a box.
    """

    continues: ClassVar[bool] = False
    runs_code: ClassVar[bool] = True
    roles: ClassVar[tuple[str, ...]] = ("coder", "critic", "refiner", *TOOLS)
    tools: ClassVar[tuple[str, ...]] = TOOLS
    needs: ClassVar[tuple[str, ...]] = ()

    mode: Mode = "vdebugger"
    form: Literal["auto"] | FormName = "auto"
    rounds: int = 3
    threshold: float | None = 0.5
    style: Style = "instruct"
    constrain: bool = False
    fallback: bool = True
    keep: Keep = "end"
    feedback_chars: int = 8000
    crop_margin_px: int = 10
    box_origin: Origin = "top-left"

    def __post_init__(self) -> None:
        for name, least in (("rounds", 1), ("feedback_chars", 200), ("crop_margin_px", 0)):
            if getattr(self, name) < least:
                raise ConfigError(
                    f"option {name} is {getattr(self, name)}; it takes a whole number from {least} on"
                )
        if self.threshold is not None and not 0 <= self.threshold < 1:
            raise ConfigError(f"option threshold is {self.threshold}; it takes a number from 0 to 1, or none")

    def solve(self, question: Question, episode: Episode) -> Answer:
        """Raises ConfigError for a form that does not take so many images."""
        if not question.images:
            episode.note("no_image", why="the question has no image, and a visual program needs one")
            return Answer(
                None, "no_answer", remark="the question has no image, and a visual program needs one"
            )
        query = query_of(question, self.form)
        episode.expect_code()
        client = RoleClient(
            episode, query, self.style, self.mode != "without_feedback", self.keep, self.feedback_chars
        )
        config = DebugConfig(
            self.mode,
            self.rounds,
            self.threshold,
            self.constrain,
            self.fallback,
            question.images[0].height,
            self.box_origin,
        )
        return DebugLoop(client, Executor(episode, query, self.crop_margin_px), config).answer()
