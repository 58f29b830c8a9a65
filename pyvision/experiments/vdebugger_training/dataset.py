"""Collect programs for questions, and break the right ones; each step goes on where it was broken off."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeAlias

from pyvision.agent.episode import Sandbox as AnySandbox
from pyvision.bench.datasets.sources import Source, find_source
from pyvision.bench.grading import Grading, find_grading
from pyvision.bench.runner.engines.answering import answer_job
from pyvision.bench.runner.engines.protocol import Finished, Job
from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError, FormatError, ModelError, RunFolderError
from pyvision.events import Event, Note
from pyvision.experiments.vdebugger_training.masking import Masked, mask_somewhere, parse_infill
from pyvision.experiments.vdebugger_training.records import (
    Attempt,
    Decoding,
    Executed,
    Injected,
    Label,
    Program,
    append,
    resume,
)
from pyvision.models.scripted import Scripted
from pyvision.solve import Task, prepare
from sandbox import Policy, Sandbox, SandboxError

PROGRAMS = "programs.jsonl"
Tell: TypeAlias = Callable[[str], None]


class Infill(Protocol):
    """Fills masks: the whole program for each (task, masked program), as a model wrote it."""

    def __call__(self, asked: Sequence[tuple[str, Masked]]) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True)
class InjectionConfig:
    """How right programs are broken. attempts: masks for each program. at_once: refills asked for together."""

    decoding: Decoding = "greedy"
    attempts: int = 1
    at_once: int = 16
    seed: int = 0

    @property
    def file(self) -> str:
        return f"injected-{self.decoding}.jsonl"


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Who writes, runs and scores programs; where the files go; who is told of it."""

    attempt: Attempt
    folder: Path
    tell: Tell = lambda line: None


def generate(samples: Iterable[Sample], shop: Pipeline) -> Counter[str]:
    """Write, run and score a program for each sample that has none in the folder; counts by fate.

    Raises what `shop.attempt` raises; what was done until then is kept.
    """
    path = shop.folder / PROGRAMS
    counts = Counter[str](_fate(program) for program in resume(path, Program))
    done = {program.id for program in resume(path, Program)}
    for sample in samples:
        if sample.id in done:
            continue
        program = shop.attempt(sample)
        append(path, [program])
        counts[_fate(program)] += 1
        shop.tell(f"{sample.id}: {_fate(program)}; {told(counts)}")
    return counts


def inject(
    samples: Mapping[str, Sample], refill: Infill, shop: Pipeline, how: InjectionConfig
) -> Counter[str]:
    """Break each right program of the folder as often as is asked for and not yet done; counts by fate.

    samples: by id, those of the programs. Raises as `generate` does, and what `refill` raises.
    """
    programs = resume(shop.folder / PROGRAMS, Program)
    right = [program for program in programs if program.is_right and program.id in samples]
    path = shop.folder / how.file
    done = resume(path, Injected)
    counts = Counter(str(each.fate) for each in done)
    left = _left({(each.of, each.attempt) for each in done}, right, how)
    while asked := tuple(islice(left, how.at_once)):
        broken = list(_broken(asked, samples, refill, shop, how))
        append(path, broken)
        counts.update(str(each.fate) for each in broken)
        shop.tell(f"{how.decoding}: {told(counts)}")
    return counts


def told(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {fate}" for fate, count in sorted(counts.items())) or "nothing"


def _fate(program: Program) -> Label:
    if program.score is None:
        return "unscored"
    return "right" if program.is_right else "wrong"


def _left(
    done: set[tuple[str, int]], right: Sequence[Program], how: InjectionConfig
) -> Iterator[tuple[Program, int]]:
    for attempt in range(how.attempts):
        yield from ((program, attempt) for program in right if (program.id, attempt) not in done)


def _broken(
    asked: Sequence[tuple[Program, int]],
    samples: Mapping[str, Sample],
    refill: Infill,
    shop: Pipeline,
    how: InjectionConfig,
) -> Iterator[Injected]:
    """The attempts in their order; a program without a place to mask is refused without a refill."""
    masked: list[tuple[Program, Injected, Masked]] = []
    for program, attempt in asked:
        # The decoding is not part of the seed: both are to be compared over the same masks.
        chance = random.Random(f"{how.seed} {program.id} {attempt}")
        blank = Injected(program.id, how.decoding, attempt, "refused", "")
        try:
            mask = mask_somewhere(program.program, chance)
        except FormatError as error:
            yield replace(blank, why=str(error))
        else:
            masked.append((program, replace(blank, masked=mask.text), mask))
    answers = refill([(program.task, mask) for program, _, mask in masked]) if masked else ()
    for (program, blank, mask), answer in zip(masked, answers, strict=True):
        yield _tried(blank, mask, answer, samples[program.id], shop)


def _tried(blank: Injected, mask: Masked, answer: str, sample: Sample, shop: Pipeline) -> Injected:
    try:
        program, span = parse_infill(mask, answer)
    except FormatError as error:
        return replace(blank, why=str(error))
    ran = shop.attempt(sample, program)
    if ran.program != program:
        return replace(blank, why="the refill was run in another form, in which its place is not known")
    return replace(
        blank, fate=_fate(ran), program=program, span=(span.start, span.end), executed=ran.executed
    )


# ---- Write, run and score programs just as the strategy does it: its own coder, sandbox, services and answers.


_OPTIONS = {"mode": "none", "fallback": "false"}  # one program, and nothing in its place when it fails
_ABOUT = "about.json"


@dataclass(frozen=True, slots=True)
class Collection:
    """What a folder of programs is about: the dataset, and who writes programs and sees for them.

    The fields are the flags of `vdebugger generate`.
    """

    __pydantic_config__: ClassVar[object] = {"extra": "forbid"}

    dataset: str
    limit: int | None = None
    count: int = 100
    seed: int = 0
    difficulty: float = 0.5
    metric: str | None = None
    model: str | None = None
    config: str | None = None
    roles: Mapping[str, str] = field(default_factory=dict)
    tools: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    cell_timeout: float = 30.0

    @property
    def source(self) -> Source:
        return find_source(self.dataset, count=self.count, seed=self.seed, difficulty=self.difficulty)

    def samples(self) -> Iterator[Sample]:
        return self.source.samples(self.limit)

    def task(self) -> Task:
        """Of the strategy. Raises ConfigError."""
        return prepare(
            "The questions are those of the samples.",
            strategy="vdebugger",
            model=self.model,
            config=self.config,
            roles=self.roles,
            tools=self.tools,
            options={**self.options, **_OPTIONS},
            policy=Policy(cell_timeout_s=self.cell_timeout),
        )


def keep(collection: Collection, folder: Path) -> None:
    """Write down what a folder is about. Raises ConfigError where it is about something else."""
    path = folder / _ABOUT
    if path.exists():
        before, now = asdict(read_collection(folder)), asdict(collection)
        changed = [name for name, value in now.items() if before[name] != value and name != "limit"]
        if changed:
            raise ConfigError(f"{folder}: was begun with another {changed[0]}; choose another --out")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(collection), indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise RunFolderError(f"{folder}: {error.strerror}; choose another --out") from error


def read_collection(folder: Path) -> Collection:
    """What a folder is about. Raises ConfigError."""
    from pydantic import TypeAdapter, ValidationError

    path = folder / _ABOUT
    try:
        return TypeAdapter(Collection).validate_json(path.read_bytes())
    except OSError as error:
        way = "`vdebugger generate DATASET --out DIR` makes one"
        raise ConfigError(f"{folder}: holds no programs ({error.strerror}); {way}") from error
    except ValidationError as error:
        raise ConfigError(f"{path}: is none of ours ({error.error_count()} faults); generate anew") from None


@contextmanager
def attempts(collection: Collection) -> Iterator[Attempts]:
    """Who writes, runs and scores the programs of a collection."""
    with collection.task() as task, Sandbox(task.policy) as sandbox:
        yield Attempts(task, sandbox, find_grading(collection.metric or collection.source.metric))


class Attempts:
    """A `records.Attempt`: one program about one sample, written by the coder or given.

    Raises ModelError and SandboxError where the fault is no program's: a broken-off step goes on from there.
    """

    def __init__(self, task: Task, sandbox: AnySandbox, grading: Grading) -> None:
        self._task, self._sandbox, self._grading = task, sandbox, grading

    def __call__(self, sample: Sample, program: str | None = None) -> Program:
        task = self._task
        if program is not None:
            written = Scripted([f"```python\n{program}\n```"], name="given")
            task = replace(task, models={**task.models, "coder": written})
        finished = answer_job(task, lambda _: self._sandbox, Job(sample, 0))
        _check(finished)
        score = self._grading.score(finished.record, sample).value
        return program_of(sample, finished.events, score)


def program_of(sample: Sample, events: Sequence[Event], score: float | None) -> Program:
    """The first program that the events tell of; an empty one where none was written."""
    for event in events:
        if isinstance(event, Note) and event.label == "program":
            told = event.data
            return Program(sample.id, told["question"], told["program"], read_executed(told), score)
    return Program(sample.id, sample.text, "", Executed(error="no program was written"), score)


def read_executed(told: Mapping[str, Any]) -> Executed:
    """How a program went, as the strategy's note tells it."""
    if told["status"] == "no_program":
        return Executed(None, None, told["error"])
    trace = told["trace"]
    if told["status"] in ("timeout", "died"):
        trace = f"{trace}\n[{told['error']}]".lstrip("\n")
    return Executed(None if told["error"] else told["result"], trace, told["error"])


def _check(finished: Finished) -> None:
    reason, error = finished.record.end_reason, finished.record.error or ""
    if finished.fatal is not None:
        raise finished.fatal
    if reason == "model_error":
        raise ModelError(error)
    if reason == "sandbox_error":
        raise SandboxError(error)
