"""Make the Model that a configuration describes: one row for each wire."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from pyvision.config import ModelConfig
from pyvision.errors import ConfigError, MissingExtra, reason
from pyvision.models.limited import Limited
from pyvision.models.wrappers import Replayed, Retried
from pyvision.types import Model


class OwnedModel(Model, Protocol):
    """A Model that its owner closes."""

    def close(self) -> None: ...


def build(config: ModelConfig) -> OwnedModel:
    """The model, ready to be asked; nothing is opened before its first call. Who builds it closes it.

    Raises ConfigError, MissingExtra among them.
    """
    return _WIRES[config.wire](config)


def _openai(config: ModelConfig) -> OwnedModel:
    from pyvision.models.openai import openai_chat

    return _called(openai_chat(config), config)


def _responses(config: ModelConfig) -> OwnedModel:
    from pyvision.models.responses import openai_responses

    return _called(openai_responses(config), config)


def _anthropic(config: ModelConfig) -> OwnedModel:
    from pyvision.models.anthropic import anthropic_messages

    if find_spec("anthropic") is None:
        raise MissingExtra("anthropic", "anthropic")
    return _called(anthropic_messages(config), config)


def _called(endpoint: Model, config: ModelConfig) -> OwnedModel:
    """With retries around it, and within the limits that the configuration sets for calls."""
    rates = (config.requests_per_minute, config.tokens_per_minute)
    return Retried(Limited(endpoint, *rates, config.max_concurrent), config.retry_s)


def _offline(config: ModelConfig) -> OwnedModel:
    from pyvision.models.offline import Offline

    return Offline()


def _scripted(config: ModelConfig) -> OwnedModel:
    from pyvision.models.scripted import Scripted

    replies = _script(config.file) if config.replies is None and config.file else config.replies
    return Scripted(replies or (), config.model or "scripted")


def _replayed(config: ModelConfig) -> OwnedModel:
    if config.file is None:
        raise ConfigError("wire 'replayed' needs 'file': the recorded replies")
    return Replayed(config.file, config.model or "replayed")


def _script(path: Path) -> tuple[str, ...]:
    """The replies in a JSON file: a list of texts."""
    try:
        replies = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{path}: the script cannot be read ({reason(error)}); give a JSON list of texts"
        ) from error
    if not isinstance(replies, list) or not all(isinstance(reply, str) for reply in replies):
        raise ConfigError(f"{path}: a script is a JSON list of texts, one for each reply")
    return tuple(replies)


_WIRES: Mapping[str, Callable[[ModelConfig], OwnedModel]] = {
    "openai": _openai,
    "responses": _responses,
    "anthropic": _anthropic,
    "offline": _offline,
    "scripted": _scripted,
    "replayed": _replayed,
}
