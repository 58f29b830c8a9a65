"""What the doctor found out about endpoints, kept between runs: one small file for each endpoint and model.

The files lie in the user's cache folder ($XDG_CACHE_HOME/pyvision/profiles). They hold no key. Deleting one
loses nothing that `pyvision doctor` does not bring back.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from pyvision.config.files import write_atomic
from pyvision.config.model_config import ModelConfig, without_credentials


@dataclass(frozen=True, slots=True)
class Profile:
    """What one model behind one endpoint accepts; None is what nobody knows.

    refused: parameters, by the names of the wire. pictures: the most that one request may hold and still be
    seen. legible_px: the lowest numeral read in a picture 2048 px wide. boxes: how coordinates are worded.
    """

    wire: str
    endpoint: str
    model: str
    refused: tuple[str, ...] = ()
    stream: bool | None = None
    honours_stop: bool | None = None
    pictures: int | None = None
    legible_px: int | None = None
    boxes: str | None = None
    version: Literal[1] = 1


def endpoint_of(config: ModelConfig) -> str:
    """The address without a name, a password or a query in it."""
    return without_credentials(config.address).rstrip("/")


def apply_profile(config: ModelConfig, profile: Profile | None) -> ModelConfig:
    """The configuration without what the endpoint was seen to refuse or ignore; a profile adds nothing."""
    if profile is None:
        return config
    return replace(
        config,
        refused=tuple(dict.fromkeys((*config.refused, *profile.refused))),
        stream=config.stream and profile.stream is not False,
        stop=config.stop and profile.honours_stop is not False,
    )


def read_profile(config: ModelConfig) -> Profile | None:
    """The profile of this endpoint and model, or None: a cache that is missing or damaged is no fault."""
    from pydantic import TypeAdapter

    path = _path(config.wire, endpoint_of(config), config.model or "")
    try:
        return TypeAdapter(Profile).validate_json(path.read_bytes(), strict=True)
    except (OSError, ValueError):
        return None


def write_profile(profile: Profile) -> Path | None:
    """Keep it, in place of an older one, all at once. Returns where, or None where no file can be written."""
    path = _path(profile.wire, profile.endpoint, profile.model)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, json.dumps(asdict(profile), indent=2).encode())
    except OSError:
        return None
    return path


def _path(wire: str, endpoint: str, model: str) -> Path:
    from hashlib import sha256

    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    name = sha256("\0".join((wire, endpoint, model)).encode()).hexdigest()[:24]
    return home / "pyvision" / "profiles" / f"{name}.json"
