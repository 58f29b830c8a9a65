"""Files of JSON lines that a broken-off step goes on with: one value a line, only ever appended to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from pyvision.errors import ConfigError, RunFolderError

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
