"""The VDebugger strategy: its options, and Algorithm 1 of the paper, the loop that debugs a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from pyvision.agent.episode import Episode
from pyvision.agent.strategy import check_least
from pyvision.errors import ConfigError, FormatError, LimitReached
from pyvision.strategies.vdebugger.execution import TOOLS, Execution, Executor, Origin, answer_of
from pyvision.strategies.vdebugger.programs import FormName, canonical, query_of
from pyvision.strategies.vdebugger.roles import (
    RefusalError,
    RoleClient,
    Sight,
    Style,
    critique,
    draft,
    failure_of,
    judge_blocks,
    refine,
    reject,
    self_debug,
)
from pyvision.strategies.vdebugger.trace_format import Keep, shorten
from pyvision.strategies.vdebugger.verdicts import Verdict
from pyvision.types import Answer, Question

Mode: TypeAlias = Literal["vdebugger", "none", "without_feedback", "self_debug", "per_block"]
_TRACE_CHARS = 20_000  # of a trace in a note; the event of the cell holds all of it
_NO_IMAGE = "the question has no image, and a visual program needs one"


@dataclass(frozen=True, slots=True)
class VDebugger:
    """Visual programs, traced, criticised and refined (arXiv 2406.13444).

    mode: `none` runs the first program; `without_feedback` shows critic and refiner the program alone; `self_debug`
    lets the coder judge its own program; `per_block` judges block by block.
    threshold: the score above which a program is accepted if the endpoint returns log probabilities (th of
    Algorithm 1, unnamed in the paper; its code amounts to 0.5); none: the critic's word alone decides.
    constrain: the refiner may change only marked lines. fallback: if a program fails, the plain question is asked
    instead; it never appears in a trace. keep: which end of a trace longer than feedback_chars is shown.
    crop_margin_px: by how much crops and detections are enlarged. box_origin: the corner from which a box in the
    answer is measured. critic_sees: `image` also sends critic and refiner the images of the question and the parts that
    the program looked at; the paper's roles are text-only. critic_on_error: the critic also judges a program that
    cannot run, raised an exception or returned nothing that is an answer, as in the paper, and always with trained
    critics; else such a program is wrong without a critic, at the line that raised. one_reply: a critic that is also
    the refiner (one model plays both) writes the corrected program in the reply that rejects the old one; in the paper
    these are two requests, and trained critics and refiners always get two.
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
    critic_sees: Sight = "text"
    critic_on_error: bool = False
    one_reply: bool = True

    def __post_init__(self) -> None:
        check_least(self, rounds=1, feedback_chars=200, crop_margin_px=0)
        if self.critic_sees == "image" and self.style == "trained":
            raise ConfigError(
                "option critic_sees is 'image', but trained critics read text; give style=instruct"
            )
        if self.threshold is not None and not 0 <= self.threshold < 1:
            raise ConfigError(
                f"option threshold is {self.threshold}; it must be at least 0 and below 1, or none"
            )

    def solve(self, question: Question, episode: Episode) -> Answer:
        """Raises ConfigError if the form does not take this number of images."""
        if not question.images:
            episode.note("no_image", why=_NO_IMAGE)
            return Answer(None, "no_answer", remark=_NO_IMAGE)
        query = query_of(question, self.form)
        episode.note("form", form=query.form.name, why=query.why)
        episode.expect_code()
        client = RoleClient(
            episode,
            query,
            self.style,
            self.mode != "without_feedback",
            self.keep,
            self.feedback_chars,
            self.critic_sees,
            self.one_reply and self.style != "trained" and episode.plays_both("critic", "refiner"),
        )
        config = DebugConfig(
            self.mode,
            self.rounds,
            self.threshold,
            self.constrain,
            self.fallback,
            question.images[0].height,
            self.box_origin,
            self.critic_on_error or self.mode == "without_feedback" or self.style == "trained",
        )
        return DebugLoop(client, Executor(episode, query, self.crop_margin_px), config).answer()


@dataclass(frozen=True, slots=True)
class DebugConfig:
    """How the programs of one question are debugged. rounds: T; threshold: th; height: of the first image."""

    mode: Mode
    rounds: int
    threshold: float | None
    constrain: bool
    fallback: bool
    height: int
    origin: Origin
    critic_on_error: bool = False


class DebugLoop:
    """One question, from its first program to its answer: write, run with a trace, criticise and refine up to T times.

    Every step is an event.
    """

    def __init__(self, client: RoleClient, executor: Executor, config: DebugConfig) -> None:
        self._client = client
        self._executor = executor
        self._config = config
        self._episode = client.episode
        self._latest: Execution | None = None
        self._seen: set[str] = set()

    def answer(self) -> Answer:
        """The best answer so far if a budget runs out. Raises ModelError, ConfigError and sandbox.SandboxError."""
        try:
            self._debug()
        except RefusalError as refusal:
            return Answer(None, "refused", remark=str(refusal))
        except LimitReached as limit:
            if self._latest is None or limit.end_reason == "interrupted":
                raise
            self._note_end("limit", 0)
            return self._conclude(limit)
        return self._conclude()

    def ask_critic(self, execution: Execution, number: int, critic: Critic) -> tuple[Verdict, str | None]:
        """Ask a critic, and the refiner if it rejects the program without correcting it."""
        failed = None if self._config.critic_on_error else self._failure(execution)
        verdict = failed or critic(self._client, execution, self._config.threshold)
        self._note_verdict(verdict, execution, number)
        if verdict.is_accepted or verdict.word == "unclear":
            return verdict, None
        return verdict, refine(self._client, execution, verdict, constrain=self._config.constrain)

    def ask_coder(self, execution: Execution, number: int) -> tuple[Verdict, str | None]:
        """Ask the coder about its own program."""
        verdict, program = self_debug(self._client, execution)
        self._note_verdict(verdict, execution, number)
        return verdict, program

    def _failure(self, execution: Execution) -> Verdict | None:
        """The verdict on a program that failed, or whose result is no answer, whatever a critic thinks of it."""
        if execution.returned is None:
            return failure_of(execution)
        try:
            self._read(execution)
        except FormatError as error:
            return reject(f"It gives no answer: {error}")
        return None

    def _debug(self) -> None:
        program = draft(self._client)
        if program is None:
            return
        self._execute(program, 0)
        step = _STEPS.get(self._config.mode)
        if step is not None:
            self._note_end(*self._rounds(step))

    def _rounds(self, step: Step) -> tuple[str, int]:
        """Why criticism ended, and in which round."""
        for number in range(1, self._config.rounds + 1):
            why = self._round(step, number)
            if why is not None:
                return why, number
        return "rounds", self._config.rounds

    def _round(self, step: Step, number: int) -> str | None:
        """One round of criticism; if it is the last one, why."""
        latest = self._latest
        assert latest is not None
        verdict, program = step(self, latest, number)
        if verdict.is_accepted:
            return "accepted"
        if program is None:
            return "unclear" if verdict.word == "unclear" else "no_program"
        is_new = canonical(program, self._client.query.signature).text not in self._seen
        self._episode.note("refinement", round=number, program=program, repeated=not is_new)
        if not is_new:
            return "repeated"
        self._execute(program, number)
        return None

    def _execute(self, program: str, number: int) -> None:
        execution = self._executor.trace(program)
        self._latest = execution
        self._seen.add(execution.program)
        self._note_execution(execution, number)

    def _conclude(self, limit: LimitReached | None = None) -> Answer:
        reason = limit.end_reason if limit else "answered"
        try:
            return Answer(self._read(self._latest), reason, str(limit) if limit else None)
        except FormatError as failure:
            return self._fall_back(str(failure), limit)

    def _fall_back(self, why: str, limit: LimitReached | None) -> Answer:
        """If the program has no answer: ask the plain question, if that is enabled and the budget allows it."""
        if not self._config.fallback or limit is not None:
            return Answer(None, limit.end_reason if limit else "no_answer", remark=why)
        plain = self._client.query.plain_program
        self._episode.note("fallback", why=why, program=plain)
        try:
            text = self._read(self._executor.run(plain))
        except FormatError:
            return Answer(None, "no_answer", remark=f"{why}; the plain question got no answer either")
        except LimitReached as spent:
            if spent.end_reason == "interrupted":
                raise
            return Answer(None, spent.end_reason, remark=why)
        return Answer(text, remark=f"{why}; this is the answer to the plain question")

    def _read(self, execution: Execution | None) -> str:
        """Raises FormatError."""
        if execution is None:
            raise FormatError("no program was written")
        if execution.returned is None:
            raise FormatError(f"the program failed: {execution.error}")
        form = self._client.query.form.name
        question = self._client.query.subject
        return answer_of(
            execution.returned, form, self._config.height, self._config.origin, question=question
        )

    def _note_execution(self, execution: Execution, number: int) -> None:
        self._episode.note(
            "program",
            round=number,
            form=self._client.query.form.name,
            question=self._client.query.line,
            program=execution.program,
            status=execution.status,
            result=execution.result,
            error=execution.error,
            trace=shorten(execution.trace, _TRACE_CHARS),
            verified_by=execution.verified_by,
            boxes=[dict(box) for box in execution.boxes],
            line=execution.line,
        )
        self._episode.keep_finding("program", execution.program)
        self._episode.keep_finding("boxes", [dict(box) for box in execution.boxes])

    def _note_verdict(self, verdict: Verdict, execution: Execution, number: int) -> None:
        self._episode.note("verdict", round=number, **verdict.plain(execution.program))

    def _note_end(self, why: str, number: int) -> None:
        self._episode.note("debugging_ended", why=why, round=number)


Critic: TypeAlias = Callable[[RoleClient, Execution, float | None], Verdict]
Step: TypeAlias = Callable[[DebugLoop, Execution, int], tuple[Verdict, str | None]]


def _judge(loop: DebugLoop, execution: Execution, number: int) -> tuple[Verdict, str | None]:
    return loop.ask_critic(execution, number, critique)


def _judge_blocks(loop: DebugLoop, execution: Execution, number: int) -> tuple[Verdict, str | None]:
    return loop.ask_critic(execution, number, judge_blocks)


_STEPS: Mapping[Mode, Step] = {
    "vdebugger": _judge,
    "without_feedback": _judge,
    "per_block": _judge_blocks,
    "self_debug": DebugLoop.ask_coder,
}
