"""Write, run and score programs just as the strategy does it: its own coder, sandbox, services and answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from pyvision.agent.episode import Sandbox as AnySandbox
from pyvision.bench.datasets.sources import Source, find_source
from pyvision.bench.grading import Grading, find_grading
from pyvision.bench.runner.answering import Finished, Job, answer_job
from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError, ModelError, RunFolderError
from pyvision.events import Event, Note
from pyvision.experiments.vdebugger_training.records import Executed, Program
from pyvision.models.scripted import Scripted
from pyvision.solve import Task, prepare
from sandbox import Policy, Sandbox, SandboxError

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
