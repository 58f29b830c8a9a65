"""Who plays a role: a model, built from its configuration, with what is known of its endpoint."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pyvision.config import load_model_config, secrets, without_secrets
from pyvision.limits import EndpointLimits, limits_for
from pyvision.models.build import build
from pyvision.models.wrappers import close_model
from pyvision.profiles import Profile, obeyed, read_profile
from pyvision.types import Model


@dataclass(frozen=True, slots=True)
class Player:
    """A model; `is_ours` when it was built here, and so closed here. described: without secrets."""

    model: Model
    described: Mapping[str, Any]
    secrets: tuple[str, ...] = field(default=(), repr=False)
    accepts: EndpointLimits = field(default_factory=EndpointLimits)
    is_ours: bool = False

    def close(self) -> None:
        """Close the model, if it was built here; a model that was handed in stays open."""
        if self.is_ours:
            close_model(self.model)

    @property
    def is_offline(self) -> bool:
        """Whether it is the rule-based model, beside which tools are rule-based too unless others are chosen."""
        return getattr(self.model, "is_offline", False)


def find_player(model: str | Model | None, config: str | Path | None = None) -> Player:
    """The player of a Model, of a name as `--model` takes it, or of a configuration file.

    What `pyvision doctor` found out about the endpoint is obeyed. Raises ConfigError.
    """
    if model is not None and not isinstance(model, str):
        return Player(model, {"name": model.name})
    chosen = load_model_config(model, Path(config) if config else None, os.environ)
    profile = read_profile(chosen)
    settings = obeyed(chosen, profile)
    accepts = _within(limits_for(settings), profile)
    return Player(build(settings), without_secrets(settings), secrets(settings), accepts, is_ours=True)


def _within(accepts: EndpointLimits, profile: Profile | None) -> EndpointLimits:
    """The table's limits, with fewer pictures where the doctor saw that more are refused or not seen."""
    if profile is None or not profile.pictures:
        return accepts
    return replace(accepts, pictures=min(accepts.pictures, profile.pictures))
