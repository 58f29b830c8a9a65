"""What the steps of the pipeline hand on: one plain value for each line of their files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, TypeVar

from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError, RunFolderError

Decoding: TypeAlias = Literal["greedy", "mask_best"]
Label: TypeAlias = Literal["wrong", "right", "refused", "unscored"]
RIGHT_FROM = 0.7  # a box is right above this IoU (the authors' code); other scores are 0 or 1


@dataclass(frozen=True, slots=True)
class Executed:
    """How a program went. result: its answer as text; trace: line by line, as a critic reads it.

    trace is None where the program never ran: it did not compile. error: the exception in one line.
    """

    result: str | None = None
    trace: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """A program that was written for a question, as it ran and what its answer scored.

    id: the sample's. task: the question as a program's comment tells it. score: from 0 to 1; None when nothing can
    say, which is never counted as wrong.
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
    """One attempt to break a right program.

    of: the sample's id. attempt: from 0, for each sample and decoding. fate: what became of it; only `wrong` ones
    train anybody. span: the characters of `program` that are new. why: for what reason it was refused.
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
class Example:
    """One record to train on. The loss counts `inst` and `completion`; `prompt` is cut first where it is too long.

    eos: whether the completion ends there; an unlocalised verdict leaves open what follows. of: the sample's id.
    """

    __pydantic_config__: ClassVar[object] = {"extra": "forbid"}

    prompt: str
    inst: str
    completion: str
    eos: bool = True
    of: str = ""


class Attempt(Protocol):
    """Runs a program about a sample and scores its answer; whatever the program does ends in the value.

    program: None has one written first. Raises what ends the whole step: a model's endpoint that fails, say.
    """

    def __call__(self, sample: Sample, program: str | None = None) -> Program: ...


# ---- Files of JSON lines that a broken-off step goes on with: one value a line, only ever appended to.


Value = TypeVar("Value")


def read(path: Path, kind: type[Value]) -> Iterator[Value]:
    """The values of a file. Raises ConfigError naming the line that is none."""
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
            raise ConfigError(f"{why}; mend the line or take it out") from None


def append(path: Path, values: Iterable[Any]) -> int:
    """Write the values behind those that are there, each at once; how many. Raises RunFolderError."""
    from pydantic import TypeAdapter

    count = 0
    with _explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            for value in values:
                file.write(TypeAdapter(type(value)).dump_json(value) + b"\n")
                file.flush()
                count += 1
    return count


def rewrite(path: Path, values: Iterable[Any]) -> int:
    """Write a file anew; how many values. Raises RunFolderError."""
    with _explained(path):
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return append(path, values)


def resume(path: Path, kind: type[Value]) -> tuple[Value, ...]:
    """What an earlier attempt has written; the line in which it was broken off is cut away. Raises ConfigError."""
    if not path.exists():
        return ()
    with _explained(path):
        written = path.read_bytes()
        whole = written[: written.rfind(b"\n") + 1]
        if whole != written:
            path.write_bytes(whole)
    return tuple(read(path, kind))


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); check the path") from error


class _explained:  # noqa: N801 - a context manager, read as a word
    """A failing disk in one line."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise RunFolderError(f"{self._path}: {error.strerror}; choose another folder") from error
