"""What a visitor may choose, and the Task that comes of it: built once for each choice and shared by all."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from pyvision.agent.budget import Limits
from pyvision.errors import ConfigError, ImageError
from pyvision.images.read import decode
from pyvision.solve import STRATEGIES, Task, prepare
from pyvision.types import Picture


@dataclass(frozen=True, slots=True)
class Choice:
    """A strategy by name, one of the models on offer, options as `--set` takes them, and a number of turns."""

    strategy: str = "code_loop"
    model: str = ""
    options: str = ""
    max_turns: int = 20


class Settings:
    """What is on offer. models: names as `--model` takes them, the first is the default. config: instead of them."""

    def __init__(self, models: Sequence[str], config: Path | None, limits: Limits) -> None:
        self.models = tuple(models) or ((config.name,) if config else ("",))
        self.strategies = tuple(STRATEGIES)
        self._config = config
        self._limits = limits
        self._tasks: dict[Choice, Task] = {}
        self._lock = threading.Lock()

    def task(self, choice: Choice) -> Task:
        """Raises ConfigError for what is not on offer or cannot be used."""
        if choice.model not in self.models:
            raise ConfigError(f"model {choice.model!r} is not on offer here; choose {', '.join(self.models)}")
        with self._lock:
            if choice not in self._tasks:
                self._tasks[choice] = self._prepare(choice)
            return self._tasks[choice]

    def default_task(self) -> Task:
        """That of a visitor who chooses nothing."""
        return self.task(Choice(model=self.models[0]))

    def close(self) -> None:
        for task in self._tasks.values():
            task.close()

    def _prepare(self, choice: Choice) -> Task:
        options = _options(choice.options)
        if choice.strategy in STRATEGIES:
            _refuse_files(choice.strategy, options)
        return prepare(
            "a visitor asks",
            strategy=choice.strategy,
            model=None if self._config else choice.model or None,
            config=self._config,
            options=options,
            limits=replace(self._limits, max_turns=choice.max_turns),
        )


def _refuse_files(strategy: str, options: Mapping[str, str]) -> None:
    """Raises ConfigError for an option that names a file: the files of this machine are no visitor's."""
    files = {field.name for field in fields(STRATEGIES[strategy]()) if "Path" in str(field.type)}  # type: ignore[arg-type]  # every strategy is a dataclass
    for name in options:
        if name in files:
            raise ConfigError(
                f"option {name!r} names a file of the machine that serves this; it is not on offer"
            )


def _options(text: str) -> dict[str, str]:
    """KEY=VALUE, divided by spaces."""
    pairs = {}
    for word in text.split():
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise ConfigError(f"option {word!r} is not KEY=VALUE, as in repairs=2")
        pairs[key] = value
    return pairs


# ---- What a visitor hands in: few, small, real pictures; anything else is one line that says what is taken.


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """The most that one question may bring; bytes and pixels for each picture."""

    pictures: int = 8
    picture_bytes: int = 20 * 2**20
    picture_pixels: int = 50_000_000


def pictures_of(files: Sequence[Path], limits: UploadLimits) -> tuple[Picture, ...]:
    """The pictures in these files. Raises ImageError, which names the file as its visitor called it."""
    if len(files) > limits.pictures:
        raise ImageError(
            f"{len(files)} pictures are too many for one question; give at most {limits.pictures}"
        )
    return tuple(_picture(file, limits) for file in files)


def _picture(file: Path, limits: UploadLimits) -> Picture:
    size = file.stat().st_size
    if size > limits.picture_bytes:
        most = limits.picture_bytes // 2**20
        raise ImageError(f"{file.name!r} has {size / 2**20:.1f} MB; a picture may have {most} MB")
    picture = decode(file.read_bytes(), file.name)
    if picture.width * picture.height > limits.picture_pixels:
        most = limits.picture_pixels // 10**6
        raise ImageError(
            f"{file.name!r} is {picture.width} x {picture.height}; a picture may have {most} million pixels"
        )
    return picture
