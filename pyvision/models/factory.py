"""Build the Model that a configuration describes: one row for each wire."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from pyvision.config.endpoints import (
    PLACEMENT,
    EndpointLimits,
    Profile,
    apply_profile,
    limits_for,
    placement_of,
    prefers_tools,
    read_profile,
)
from pyvision.config.environment import environment
from pyvision.config.model_config import ModelConfig, load_model_config
from pyvision.config.secret_fields import secrets, without_secrets
from pyvision.errors import ConfigError, MissingExtra, MissingKey, reason
from pyvision.models.streaming import close_model
from pyvision.types import Model


class OwnedModel(Model, Protocol):
    """A Model that its owner closes."""

    def close(self) -> None: ...


def build(config: ModelConfig) -> OwnedModel:
    """The model, ready to use; nothing is opened before its first call. The caller closes it.

    Raises ConfigError or its subclass MissingExtra.
    """
    return _WIRES[config.wire](config)


def _build_openai(config: ModelConfig) -> OwnedModel:
    from pyvision.models.wires.openai_chat import openai_chat

    return _wrap_endpoint(openai_chat(config), config)


def _build_responses(config: ModelConfig) -> OwnedModel:
    from pyvision.models.wires.openai_responses import openai_responses

    return _wrap_endpoint(openai_responses(config), config)


def _build_anthropic(config: ModelConfig) -> OwnedModel:
    from pyvision.models.wires.anthropic import anthropic_messages

    if find_spec("anthropic") is None:
        raise MissingExtra("anthropic", "anthropic")
    return _wrap_endpoint(anthropic_messages(config), config)


def _build_gemini(config: ModelConfig) -> OwnedModel:
    from pyvision.models.wires.gemini import gemini

    return _wrap_endpoint(gemini(config), config)


def _build_interactions(config: ModelConfig) -> OwnedModel:
    from pyvision.models.wires.gemini_interactions import gemini_interactions

    return _wrap_endpoint(gemini_interactions(config), config)


def _wrap_endpoint(endpoint: Model, config: ModelConfig) -> OwnedModel:
    """The endpoint with the rate limits of the configuration, and with retries around them."""
    from pyvision.models.rate_limit import RateLimitedModel
    from pyvision.models.retry import RetryingModel

    rates = (config.requests_per_minute, config.tokens_per_minute)
    return RetryingModel(RateLimitedModel(endpoint, *rates, config.max_concurrent), config.retry_s)


def _build_local(config: ModelConfig) -> OwnedModel:
    from pyvision.models.local.checkpoint import local_model
    from pyvision.models.local.vllm import find_loader

    return local_model(config, find_loader)


def _build_offline(config: ModelConfig) -> OwnedModel:
    from pyvision.offline import Offline

    return Offline()


def _build_scripted(config: ModelConfig) -> OwnedModel:
    from pyvision.models.scripted import Scripted

    replies = _script(config.file) if config.replies is None and config.file else config.replies
    return Scripted(replies or (), config.model or "scripted")


def _build_replay(config: ModelConfig) -> OwnedModel:
    from pyvision.models.recording import ReplayModel

    if config.file is None:
        raise ConfigError("wire 'replayed' needs 'file' with the recorded replies; add it")
    return ReplayModel(config.file, config.model or "replayed")


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
    "openai": _build_openai,
    "responses": _build_responses,
    "anthropic": _build_anthropic,
    "gemini": _build_gemini,
    "interactions": _build_interactions,
    "local": _build_local,
    "offline": _build_offline,
    "scripted": _build_scripted,
    "replayed": _build_replay,
}


@dataclass(frozen=True, slots=True)
class ResolvedModel:
    """A model; `is_ours` if it was built here, and so is closed here. described: its configuration without secrets."""

    model: Model
    described: Mapping[str, Any]
    secrets: tuple[str, ...] = field(default=(), repr=False)
    accepts: EndpointLimits = field(default_factory=EndpointLimits)
    is_ours: bool = False

    def close(self) -> None:
        """Close the model if it was built here; a model that the caller passed in stays open."""
        if self.is_ours:
            close_model(self.model)

    @property
    def is_offline(self) -> bool:
        """Whether it is the rule-based model, beside which tools are rule-based too unless others are chosen."""
        return getattr(self.model, "is_offline", False)


def resolve_model(
    model: str | Model | ResolvedModel | None, config: str | Path | None = None
) -> ResolvedModel:
    """The model for a Model, for a name as `--model` takes it, or for a configuration file.

    What `pyvision doctor` found out about the endpoint is applied. Raises ConfigError.
    """
    if isinstance(model, ResolvedModel):
        return replace(model, is_ours=False)
    if model is not None and not isinstance(model, str):
        return ResolvedModel(model, {"name": model.name})
    try:
        chosen = load_model_config(model, Path(config) if config else None, environment())
    except MissingKey as error:
        raise MissingKey(f"{error}{_offer_local()}") from None
    profile = read_profile(chosen)
    settings = apply_profile(chosen, profile)
    accepts = endpoint_limits(settings, profile)
    return ResolvedModel(build(settings), without_secrets(settings), secrets(settings), accepts, is_ours=True)


def _offer_local() -> str:
    """For the message about a missing key: what runs on this machine and needs none."""
    from pyvision.models.listing import find_local, suggest

    offer = suggest(find_local())
    return f"; {offer}" if offer else ""


def endpoint_limits(config: ModelConfig, profile: Profile | None) -> EndpointLimits:
    """The table's limits, with fewer pictures if the doctor found that more are refused or not seen.

    Tools and places of pictures: as configured, else as the doctor found, else as family and wire are known.
    """
    known = limits_for(config)
    found = profile or Profile(config.wire, "", "")
    placement = config.image_placement or found.image_placement or placement_of(config)
    placement = placement or PLACEMENT.get(config.wire)
    return replace(
        known,
        pictures=min(known.pictures, found.pictures or known.pictures),
        image_placement=placement or known.image_placement,
        calls_tools=prefers_tools(config) if found.calls_tools is None else found.calls_tools,
        reads=config.source,
    )
