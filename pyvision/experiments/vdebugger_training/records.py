"""The records that the steps of the pipeline exchange, and the resumable JSON-lines files that hold them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, TypeVar

from pyvision.bench.samples import Sample
from pyvision.config.files import explain_os_errors
from pyvision.errors import ConfigError

Decoding: TypeAlias = Literal["greedy", "mask_best"]
Label: TypeAlias = Literal["wrong", "right", "refused", "unscored"]
Value = TypeVar("Value")
RIGHT_FROM = 0.7  # a box is correct above this IoU (the authors' code); other scores are 0 or 1


@dataclass(frozen=True, slots=True)
class Executed:
    """The outcome of a program. result: its answer as text. trace: line by line, as the critic reads it.

    trace is None if the program did not compile. error: the exception in one line.
    """

    result: str | None = None
    trace: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ScoredProgram:
    """A program for a question, its execution, and the score of its answer.

    id: of the sample. task: the question, as in the comment of the program. score: from 0 to 1; None if it cannot be
    scored, which never counts as wrong.
    """

    __pydantic_config__: ClassVar[object] = {"extra": "forbid"}

    id: str
    task: str
    program: str
    executed: Executed
    score: float | None

    @property
    def is_right(self) -> bool:
        return self.score is not None and self.score > RIGHT_FROM


@dataclass(frozen=True, slots=True)
class Injected:
    """One attempt to break a correct program.

    of: the id of the sample. attempt: from 0, for each sample and decoding. fate: the label; only `wrong` ones are
    used for training. span: the characters of `program` that are new. why: the reason for a refusal.
    """

    __pydantic_config__: ClassVar[object] = {"extra": "forbid"}

    of: str
    decoding: Decoding
    attempt: int
    fate: Label
    masked: str
    program: str = ""
    span: tuple[int, int] = (0, 0)
    executed: Executed = Executed()
    why: str = ""


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """One training example. The loss covers `inst` and `completion`; `prompt` is truncated if the example is too long.

    eos: whether the completion ends there; after a verdict without a location, more may follow. of: the sample's id.
    """

    __pydantic_config__: ClassVar[object] = {"extra": "forbid"}

    prompt: str
    inst: str
    completion: str
    eos: bool = True
    of: str = ""


class ProgramRunner(Protocol):
    """Runs a program for a sample and scores its answer; errors of the program are part of the value.

    program: if None, one is generated first. Raises only what ends the whole step, such as a failing endpoint.
    """

    def __call__(self, sample: Sample, program: str | None = None) -> ScoredProgram: ...


def read(path: Path, kind: type[Value]) -> Iterator[Value]:
    """The values in a file. Raises ConfigError naming the first invalid line."""
    from pydantic import TypeAdapter, ValidationError

    adapter = TypeAdapter(kind)
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        try:
            yield adapter.validate_json(line)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            key = ".".join(map(str, first["loc"])) or "the line"
            why = f"{path}: line {number}: {key}: {first['msg'].lower()}"
            raise ConfigError(f"{why}; fix or remove this line") from None


def append(path: Path, values: Iterable[Any]) -> int:
    """Append the values, flushing after each; returns how many. Raises RunFolderError."""
    from pydantic import TypeAdapter

    count = 0
    with explain_os_errors(path, "choose another folder"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            for value in values:
                file.write(TypeAdapter(type(value)).dump_json(value) + b"\n")
                file.flush()
                count += 1
    return count


def rewrite(path: Path, values: Iterable[Any]) -> int:
    """Overwrite a file; returns how many values. Raises RunFolderError."""
    with explain_os_errors(path, "choose another folder"):
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return append(path, values)


def resume(path: Path, kind: type[Value]) -> tuple[Value, ...]:
    """The values that an interrupted step has written; a partial last line is removed. Raises ConfigError."""
    if not path.exists():
        return ()
    with explain_os_errors(path, "choose another folder"):
        content = path.read_bytes()
        complete = content[: content.rfind(b"\n") + 1]
        if complete != content:
            path.write_bytes(complete)
    return tuple(read(path, kind))


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); check the path") from error
