"""Make the Model that a configuration describes: one row for each wire."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from pyvision.config import ModelConfig
from pyvision.errors import ConfigError
from pyvision.models.wrappers import Replayed, Retried
from pyvision.types import Model


def build(config: ModelConfig) -> Model:
    """The model, ready to be asked; nothing is opened before its first call. Raises ConfigError."""
    return _WIRES[config.wire](config)


def _openai(config: ModelConfig) -> Model:
    from pyvision.models.openai import OpenAIChat

    return Retried(OpenAIChat(config), config.retry_s)


def _offline(config: ModelConfig) -> Model:
    from pyvision.models.offline import Offline

    return Offline()


def _scripted(config: ModelConfig) -> Model:
    from pyvision.models.scripted import Scripted

    replies = _script(config.file) if config.replies is None and config.file else config.replies
    return Scripted(replies or (), config.model or "scripted")


def _replayed(config: ModelConfig) -> Model:
    if config.file is None:
        raise ConfigError("wire 'replayed' needs 'file': the recorded replies")
    return Replayed(config.file, config.model or "replayed")


def _script(path: Path) -> tuple[str, ...]:
    """The replies in a JSON file: a list of texts."""
    try:
        replies = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: the script cannot be read ({error})") from error
    if not isinstance(replies, list) or not all(isinstance(reply, str) for reply in replies):
        raise ConfigError(f"{path}: a script is a JSON list of texts, one for each reply")
    return tuple(replies)


_WIRES: Mapping[str, Callable[[ModelConfig], Model]] = {
    "openai": _openai,
    "offline": _offline,
    "scripted": _scripted,
    "replayed": _replayed,
}
