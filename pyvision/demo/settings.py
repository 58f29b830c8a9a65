"""What a visitor may choose and upload: strategy, model, options, and a limited number of images."""

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
    """A strategy by name, one of the offered models, options as `--set` takes them, and a limit on turns."""

    strategy: str = "code_loop"
    model: str = ""
    options: str = ""
    max_turns: int = 20


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """Limits for one question: the number of images, and bytes and pixels of each."""

    pictures: int = 8
    picture_bytes: int = 20 * 2**20
    picture_pixels: int = 50_000_000


class Settings:
    """What is offered. models: names as `--model` takes them, the default first. config: a file that replaces them.

    A Task is built once per choice and shared by all visitors.
    """

    def __init__(self, models: Sequence[str], config: Path | None, limits: Limits) -> None:
        self.models = tuple(models) or ((config.name,) if config else ("",))
        self.strategies = tuple(STRATEGIES)
        self._config = config
        self._limits = limits
        self._tasks: dict[Choice, Task] = {}
        self._lock = threading.Lock()

    def task(self, choice: Choice) -> Task:
        """Raises ConfigError for a choice that is not offered or not valid."""
        if choice.model not in self.models:
            raise ConfigError(f"model {choice.model!r} is not offered here; choose {', '.join(self.models)}")
        with self._lock:
            if choice not in self._tasks:
                self._tasks[choice] = self._prepare(choice)
            return self._tasks[choice]

    def default_task(self) -> Task:
        """The task of a visitor who changes no setting."""
        return self.task(Choice(model=self.models[0]))

    def close(self) -> None:
        for task in self._tasks.values():
            task.close()

    def _prepare(self, choice: Choice) -> Task:
        options = _parse_options(choice.options)
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


def read_images(files: Sequence[Path], limits: UploadLimits) -> tuple[Picture, ...]:
    """The images in these files. Raises ImageError, which names the file as the visitor named it."""
    if len(files) > limits.pictures:
        raise ImageError(f"{len(files)} images are too many for one question; the limit is {limits.pictures}")
    return tuple(_read_image(file, limits) for file in files)


def _parse_options(text: str) -> dict[str, str]:
    """KEY=VALUE pairs, separated by spaces."""
    pairs = {}
    for pair in text.split():
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise ConfigError(f"option {pair!r} is not of the form KEY=VALUE, such as repairs=2")
        pairs[key] = value
    return pairs


def _refuse_files(strategy: str, options: Mapping[str, str]) -> None:
    """Raises ConfigError for an option that names a file: visitors must not read files of the server."""
    files = {field.name for field in fields(STRATEGIES[strategy]()) if "Path" in str(field.type)}  # type: ignore[arg-type]  # every strategy is a dataclass
    for name in options:
        if name in files:
            raise ConfigError(f"option {name!r} names a file on the server; it is not available here")


def _read_image(file: Path, limits: UploadLimits) -> Picture:
    size = file.stat().st_size
    if size > limits.picture_bytes:
        limit = limits.picture_bytes // 2**20
        raise ImageError(f"{file.name!r} has {size / 2**20:.1f} MB; the limit is {limit} MB")
    picture = decode(file.read_bytes(), file.name)
    if picture.width * picture.height > limits.picture_pixels:
        limit = limits.picture_pixels // 10**6
        raise ImageError(
            f"{file.name!r} is {picture.width} x {picture.height}; the limit is {limit} million pixels"
        )
    return replace(picture, file_name=file.name)
