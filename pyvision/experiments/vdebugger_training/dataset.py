"""Generate programs for questions and inject errors into the correct ones; both steps can be resumed.

Programs are written, run and scored as the strategy does it: with its coder, sandbox, services and answer formats.
"""

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
from pyvision.agent.task import Task
from pyvision.bench.datasets.sources import SampleSource, find_source
from pyvision.bench.grading import Grading, find_grading
from pyvision.bench.runner.answering import Finished, Job, answer_job
from pyvision.bench.samples import Sample
from pyvision.config.files import explain_os_errors
from pyvision.errors import ConfigError, FormatError, ModelError
from pyvision.events import Event, Note
from pyvision.experiments.vdebugger_training.masking import Masked, mask_somewhere, parse_infill
from pyvision.experiments.vdebugger_training.records import (
    Decoding,
    Executed,
    Injected,
    Label,
    ProgramRunner,
    ScoredProgram,
    append,
    resume,
)
from pyvision.models.scripted import Scripted
from pyvision.solve import prepare
from sandbox import Policy, Sandbox, SandboxError

PROGRAMS = "programs.jsonl"
_ABOUT = "about.json"
_OPTIONS = {"mode": "none", "fallback": "false"}  # a single program, and no replacement if it fails
Tell: TypeAlias = Callable[[str], None]


class Infill(Protocol):
    """Fills masks: returns a whole program for each (task, masked program), as a model wrote it."""

    def __call__(self, asked: Sequence[tuple[str, Masked]]) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True)
class InjectionConfig:
    """How correct programs are broken. attempts: masks for each program. at_once: infills requested together."""

    decoding: Decoding = "greedy"
    attempts: int = 1
    at_once: int = 16
    seed: int = 0

    @property
    def file(self) -> str:
        return f"injected-{self.decoding}.jsonl"


@dataclass(frozen=True, slots=True)
class Pipeline:
    """What a step needs: `attempt` runs programs, `folder` holds the files, `tell` receives progress lines."""

    attempt: ProgramRunner
    folder: Path
    tell: Tell = lambda line: None


@dataclass(frozen=True, slots=True)
class Collection:
    """How the programs in a folder are made: the dataset, the models and the tools.

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
    def source(self) -> SampleSource:
        return find_source(self.dataset, count=self.count, seed=self.seed, difficulty=self.difficulty)

    def samples(self) -> Iterator[Sample]:
        return self.source.samples(self.limit)

    def task(self) -> Task:
        """The strategy with its models, tools and sandbox policy. Raises ConfigError."""
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


def generate(samples: Iterable[Sample], pipeline: Pipeline) -> Counter[str]:
    """Write, run and score a program for each sample that has none in the folder; returns counts by label.

    Raises what `pipeline.attempt` raises; the programs finished by then are kept.
    """
    path = pipeline.folder / PROGRAMS
    programs = resume(path, ScoredProgram)
    counts = Counter[str](_label(program) for program in programs)
    done = {program.id for program in programs}
    for sample in samples:
        if sample.id in done:
            continue
        program = pipeline.attempt(sample)
        append(path, [program])
        counts[_label(program)] += 1
        pipeline.tell(f"{sample.id}: {_label(program)}; {format_counts(counts)}")
    return counts


def inject(
    samples: Mapping[str, Sample], infill: Infill, pipeline: Pipeline, how: InjectionConfig
) -> Counter[str]:
    """Break each correct program in the folder `how.attempts` times, minus those done; returns counts by label.

    samples: those of the programs, by id. Raises as `generate` does, and what `infill` raises.
    """
    programs = resume(pipeline.folder / PROGRAMS, ScoredProgram)
    right = [program for program in programs if program.is_right and program.id in samples]
    path = pipeline.folder / how.file
    done = resume(path, Injected)
    counts = Counter(str(each.fate) for each in done)
    open_attempts = _open_attempts({(each.of, each.attempt) for each in done}, right, how)
    while asked := tuple(islice(open_attempts, how.at_once)):
        broken = list(_inject(asked, samples, infill, pipeline, how))
        append(path, broken)
        counts.update(str(each.fate) for each in broken)
        pipeline.tell(f"{how.decoding}: {format_counts(counts)}")
    return counts


def format_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {label}" for label, count in sorted(counts.items())) or "nothing"


def keep(collection: Collection, folder: Path) -> None:
    """Write the collection to its folder. Raises ConfigError if the folder holds another collection."""
    path = folder / _ABOUT
    if path.exists():
        before, now = asdict(read_collection(folder)), asdict(collection)
        changed = [name for name, value in now.items() if before[name] != value and name != "limit"]
        if changed:
            raise ConfigError(f"{folder}: was created with another {changed[0]}; choose another --out")
    with explain_os_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(collection), indent=2) + "\n", encoding="utf-8")


def read_collection(folder: Path) -> Collection:
    """The collection of a folder. Raises ConfigError."""
    from pydantic import TypeAdapter, ValidationError

    path = folder / _ABOUT
    try:
        return TypeAdapter(Collection).validate_json(path.read_bytes())
    except OSError as error:
        hint = "create them with `vdebugger generate DATASET --out DIR`"
        raise ConfigError(f"{folder}: holds no programs ({error.strerror}); {hint}") from error
    except ValidationError:
        raise ConfigError(f"{path}: invalid values; run `vdebugger generate` again") from None


@contextmanager
def attempts(collection: Collection) -> Iterator[Attempts]:
    """Opens what writes, runs and scores the programs of a collection."""
    with collection.task() as task, Sandbox(task.policy) as sandbox:
        yield Attempts(task, sandbox, find_grading(collection.metric or collection.source.metric))


class Attempts:
    """A `records.ProgramRunner`: one program for one sample, given or written by the coder.

    Raises ModelError and SandboxError if the failure is not the program's: the step can be resumed afterwards.
    """

    def __init__(self, task: Task, sandbox: AnySandbox, grading: Grading) -> None:
        self._task, self._sandbox, self._grading = task, sandbox, grading

    def __call__(self, sample: Sample, program: str | None = None) -> ScoredProgram:
        task = self._task
        if program is not None:
            written = Scripted([f"```python\n{program}\n```"], name="given")
            task = replace(task, models={**task.models, "coder": written})
        finished = answer_job(task, lambda _: self._sandbox, Job(sample, 0))
        _check(finished)
        score = self._grading.score(finished.record, sample).value
        return program_of(sample, finished.events, score)


def program_of(sample: Sample, events: Sequence[Event], score: float | None) -> ScoredProgram:
    """The first program in the events; an empty one if none was written."""
    for event in events:
        if isinstance(event, Note) and event.label == "program":
            data = event.data
            return ScoredProgram(sample.id, data["question"], data["program"], read_executed(data), score)
    return ScoredProgram(sample.id, sample.text, "", Executed(error="no program was written"), score)


def read_executed(data: Mapping[str, Any]) -> Executed:
    """The outcome of a program, from the strategy's note."""
    if data["status"] == "no_program":
        return Executed(None, None, data["error"])
    trace = data["trace"]
    if data["status"] in ("timeout", "died"):
        trace = f"{trace}\n[{data['error']}]".lstrip("\n")
    return Executed(None if data["error"] else data["result"], trace, data["error"])


def _label(program: ScoredProgram) -> Label:
    if program.score is None:
        return "unscored"
    return "right" if program.is_right else "wrong"


def _open_attempts(
    done: set[tuple[str, int]], right: Sequence[ScoredProgram], how: InjectionConfig
) -> Iterator[tuple[ScoredProgram, int]]:
    for attempt in range(how.attempts):
        yield from ((program, attempt) for program in right if (program.id, attempt) not in done)


def _inject(
    asked: Sequence[tuple[ScoredProgram, int]],
    samples: Mapping[str, Sample],
    infill: Infill,
    pipeline: Pipeline,
    how: InjectionConfig,
) -> Iterator[Injected]:
    """One record per attempt; a program that cannot be masked is refused without asking for an infill."""
    masked: list[tuple[ScoredProgram, Injected, Masked]] = []
    for program, attempt in asked:
        # The decoding is not part of the seed, so that both decodings can be compared on the same masks.
        chance = random.Random(f"{how.seed} {program.id} {attempt}")
        blank = Injected(program.id, how.decoding, attempt, "refused", "")
        try:
            mask = mask_somewhere(program.program, chance)
        except FormatError as error:
            yield replace(blank, why=str(error))
        else:
            masked.append((program, replace(blank, masked=mask.text), mask))
    answers = infill([(program.task, mask) for program, _, mask in masked]) if masked else ()
    for (program, blank, mask), answer in zip(masked, answers, strict=True):
        yield _run_infill(blank, mask, answer, samples[program.id], pipeline)


def _run_infill(blank: Injected, mask: Masked, answer: str, sample: Sample, pipeline: Pipeline) -> Injected:
    try:
        program, span = parse_infill(mask, answer)
    except FormatError as error:
        return replace(blank, why=str(error))
    ran = pipeline.attempt(sample, program)
    if ran.program != program:
        return replace(
            blank,
            why="the infilled program was changed before it ran, so the location of the infill is unknown",
        )
    return replace(
        blank, fate=_label(ran), program=program, span=(span.start, span.end), executed=ran.executed
    )


def _check(finished: Finished) -> None:
    reason, error = finished.record.end_reason, finished.record.error or ""
    if finished.fatal is not None:
        raise finished.fatal
    if reason == "model_error":
        raise ModelError(error)
    if reason == "sandbox_error":
        raise SandboxError(error)
