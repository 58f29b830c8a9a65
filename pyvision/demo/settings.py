"""What a visitor may choose and upload: strategy, model, options, a key for a model, and a limited number of images."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pyvision.agent.budget import Limits
from pyvision.agent.task import Task
from pyvision.config.endpoints import limits_for
from pyvision.config.files import data_folder
from pyvision.config.model_config import ENDPOINTS, is_local, load_model_config
from pyvision.config.secret_fields import secrets, without_secrets
from pyvision.errors import ConfigError, ImageError
from pyvision.images.read import decode
from pyvision.models.factory import ResolvedModel, build, resolve_model
from pyvision.solve import STRATEGIES, configure, find_strategy
from pyvision.text.sanitize import shorten
from pyvision.types import Picture

_MAX_TASKS = 64  # that are kept for further questions


@dataclass(frozen=True, slots=True)
class ChatOptions:
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


@dataclass(frozen=True, slots=True)
class KeyProvider:
    """A public endpoint for which a visitor can type a key: the name of its configuration, and its usual model."""

    name: str
    model: str


class Settings:
    """What is offered. models: names as `--model` takes them, the default first. config: a file that replaces them.

    A Task is built once per choice and shared by all visitors, except with a model of the visitor.
    """

    def __init__(self, models: Sequence[str], config: Path | None, limits: Limits) -> None:
        self.models = tuple(models) or ((config.name,) if config else ("",))
        self.strategies = tuple(STRATEGIES)
        self._config = config
        self._limits = limits
        self._tasks: dict[ChatOptions, Task] = {}
        self._models: dict[str, ResolvedModel] = {}
        self._lock = threading.Lock()

    def task(self, choice: ChatOptions, own: Mapping[str, ResolvedModel] = MappingProxyType({})) -> Task:
        """own: the models of the visitor. Raises ConfigError for a choice that is not offered or not valid."""
        if choice.model in own:
            return self._prepare(choice, own[choice.model])
        if choice.model not in self.models:
            raise ConfigError(f"model {choice.model!r} is not offered here; choose {', '.join(self.models)}")
        with self._lock:
            if choice not in self._tasks:
                if choice.model not in self._models:
                    name = None if self._config else choice.model or None
                    self._models[choice.model] = resolve_model(name, self._config)
                self._tasks[choice] = self._prepare(choice, self._models[choice.model])
            while len(self._tasks) > _MAX_TASKS:
                del self._tasks[next(iter(self._tasks))]
            return self._tasks[choice]

    def default_task(self) -> Task:
        """The task of a visitor who changes no setting."""
        return self.task(ChatOptions(model=self.models[0]))

    def close(self) -> None:
        for model in self._models.values():
            model.close()

    def _prepare(self, choice: ChatOptions, model: ResolvedModel) -> Task:
        options = _parse_options(choice.options)
        if choice.strategy in STRATEGIES:
            _refuse_files(choice.strategy, options)
        return configure(
            strategy=choice.strategy,
            model=model,
            options=options,
            limits=replace(self._limits, max_turns=choice.max_turns),
        )


def providers() -> tuple[KeyProvider, ...]:
    """The shipped configurations of public endpoints that need nothing but a key."""
    found = []
    for file in sorted(data_folder("api_configs").glob("*.json")):
        content = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(content, dict) and _needs_only_a_key(content):
            found.append(KeyProvider(file.stem, content["model"]))
    return tuple(found)


def model_with_key(name: str, key: str) -> ResolvedModel:
    """A model of a public endpoint with the key of a visitor, which is kept in memory only. The caller closes it.

    name: NAME or NAME:MODEL-ID, as `--model` takes it. Raises ConfigError.
    """
    known = [provider.name for provider in providers()]
    if name.partition(":")[0] not in known:
        raise ConfigError(f"a key can be given for {', '.join(known)}, not for {shorten(name, 40)!r}")
    if not key.isascii() or not key.isprintable() or " " in key or not 8 <= len(key) <= 400:
        raise ConfigError(
            "this is not a key; a key has 8 to 400 letters, digits and punctuation marks, and no spaces"
        )
    config = load_model_config(name, None, {"PYVISION_API_KEY": key})
    return ResolvedModel(
        build(config), without_secrets(config), secrets(config), limits_for(config), is_ours=True
    )


def read_images(files: Sequence[Path], limits: UploadLimits) -> tuple[Picture, ...]:
    """The images in these files. Raises ImageError, which names the file as the visitor named it."""
    if len(files) > limits.pictures:
        raise ImageError(f"{len(files)} images are too many for one question; the limit is {limits.pictures}")
    return tuple(_read_image(file, limits) for file in files)


def _needs_only_a_key(content: Mapping[str, Any]) -> bool:
    is_endpoint = content.get("wire") in ENDPOINTS and "base_url_env" not in content
    return is_endpoint and bool(content.get("api_key_env")) and not is_local(content.get("base_url"))


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
    files = {field.name for field in fields(find_strategy(strategy)) if "Path" in str(field.type)}  # type: ignore[arg-type]  # every strategy is a dataclass
    for name in options:
        if name in files:
            raise ConfigError(f"option {name!r} names a file on the server; it is not available here")


def _read_image(file: Path, limits: UploadLimits) -> Picture:
    size = file.stat().st_size
    if size > limits.picture_bytes:
        limit = limits.picture_bytes // 2**20
        raise ImageError(f"{file.name!r}  is {size / 2**20:.1f} MB; the limit is {limit} MB")
    picture = decode(file.read_bytes(), file.name)
    if picture.width * picture.height > limits.picture_pixels:
        limit = limits.picture_pixels // 10**6
        raise ImageError(
            f"{file.name!r} is {picture.width} x {picture.height}; the limit is {limit} million pixels"
        )
    return replace(picture, file_name=file.name)
