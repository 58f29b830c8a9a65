"""What an endpoint accepts: the published limits of its provider, and what `pyvision doctor` found out about it.

Limits: a row for each provider in `api_configs/limits.json`, with its source. An endpoint without a row is assumed to
accept what `EndpointLimits()` says, as every known one does.

Families: patterns of model names in `api_configs/families.json`, what those models refuse, and the source of each line.

Profiles: one small file for each endpoint and model in the user's cache folder ($XDG_CACHE_HOME/pyvision/profiles).
They hold no key. Deleting one loses nothing: `pyvision doctor` writes it again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias, cast
from urllib.parse import urlsplit

from pyvision.config.files import data_folder, schema_of, write_atomic
from pyvision.config.model_config import ENDPOINTS, OPENAI_URL, ModelConfig, without_credentials
from pyvision.errors import ConfigError, reason
from pyvision.images.fit import FitLimits

FILE = "limits.json"
Placement: TypeAlias = Literal["in_result", "after_result"]
_BY_WIRE: Mapping[str, str] = {
    "anthropic": "anthropic",
    "responses": "openai",
    "gemini": "gemini",
    "interactions": "gemini",
}
PLACEMENT: Mapping[str, Placement] = {
    "openai": "after_result"
}  # of pictures; other wires take them in results
_BY_HOST: Mapping[str, str] = {
    "api.openai.com": "openai",
    "openai.azure.com": "openai",
    "api.anthropic.com": "anthropic",
}


@dataclass(frozen=True, slots=True)
class EndpointLimits:
    """The most that one request may hold, pictures measured as base64.

    image_placement: whether a picture may stand in the result of a tool call, or only in a turn of the user after all
    results. calls_tools: whether the model is known to handle tools better than code in its text. reads: the
    `Opaque.source` of replies whose opaque content it takes back; None: any.
    many, many_side_px: with more than `many` pictures in the request, no side may be longer than `many_side_px`.
    source: where the numbers stand, and when they were read.
    """

    side_px: int = 2048
    picture_bytes: int = 5_000_000
    pictures: int = 100
    request_bytes: int = 30_000_000
    many: int | None = None
    many_side_px: int | None = None
    image_placement: Placement = "in_result"
    calls_tools: bool = False
    reads: str | None = None
    source: str = "what every endpoint with a row accepts"

    @property
    def fit(self) -> FitLimits:
        """To what every picture is fitted, the first one too: what was sent never changes with the next picture.

        Never more than a picture of ours needs: models scale larger ones down, and every byte is sent each turn.
        """
        ours = FitLimits()
        side_px = min(ours.side_px, self.side_px, self.many_side_px or self.side_px)
        return FitLimits(side_px, file_bytes=min(ours.file_bytes, self.picture_bytes // 4 * 3))


@dataclass(frozen=True, slots=True)
class ModelFamily:
    """Models that refuse the same parameters. models: patterns of their names. wires: the wires that it holds for.

    calls_tools: whether they are known to handle tools better than code in their text. image_placement: where they see
    the picture of a tool's result, if not where their wire puts it.
    """

    models: tuple[str, ...]
    refused: tuple[str, ...] = ()
    source: str = ""
    calls_tools: bool = False
    image_placement: Placement | None = None
    wires: tuple[str, ...] = ENDPOINTS


@dataclass(frozen=True, slots=True)
class Profile:
    """What one model behind one endpoint accepts; None means unknown.

    refused: parameters, by the names of the wire. pictures: the most that one request may hold and still be
    seen. legible_px: the lowest numeral read in a picture 2048 px wide. boxes: how coordinates are worded.
    calls_tools: whether it called a tool that it was offered. image_placement: as in `EndpointLimits`.
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
    calls_tools: bool | None = None
    image_placement: Placement | None = None
    version: Literal[1] = 1


def limits_for(config: ModelConfig) -> EndpointLimits:
    """The row that the configuration names, or the one of its wire or host. Raises ConfigError for an unknown one."""
    rows = _rows()
    name = getattr(config, "limits", None) or _BY_WIRE.get(config.wire) or _by_host(config)
    if name is None:
        return EndpointLimits()
    if name not in rows:
        raise ConfigError(f"limits {name!r}: no such row in {FILE}; known rows are {', '.join(rows)}")
    return rows[name]


def prefers_tools(config: ModelConfig) -> bool:
    """Whether the model of this configuration is of a family that handles tools better than code in its text."""
    return any(family.calls_tools for family in families_of(config.wire, config.model or ""))


def placement_of(config: ModelConfig) -> Placement | None:
    """Where models of this family see the picture of a tool's result; None: where their wire puts it."""
    families = families_of(config.wire, config.model or "")
    return next((family.image_placement for family in families if family.image_placement), None)


def families_of(wire: str, model: str) -> Iterator[ModelFamily]:
    """The rows of `api_configs/families.json` that hold for a model behind a wire."""
    name = model.rpartition("/")[2].lower()  # OpenRouter and its like put the vendor before it
    for family in _families():
        if wire in family.wires and any(fnmatchcase(name, pattern) for pattern in family.models):
            yield family


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
    path = _path(config.wire, endpoint_of(config), config.model or "")
    try:
        return cast("Profile", schema_of(Profile).validate_json(path.read_bytes(), strict=True))
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


def _by_host(config: ModelConfig) -> str | None:
    host = urlsplit(config.base_url or OPENAI_URL).hostname if config.wire == "openai" else None
    return next((row for known, row in _BY_HOST.items() if host and f".{host}".endswith(f".{known}")), None)


@cache
def _rows() -> Mapping[str, EndpointLimits]:
    from pydantic import TypeAdapter, ValidationError

    path = data_folder("api_configs") / FILE
    try:
        return TypeAdapter(dict[str, EndpointLimits]).validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise ConfigError(f"{path}: is not a table of limits ({reason(error)[:200]})") from error


@cache
def _families() -> tuple[ModelFamily, ...]:
    from pydantic import TypeAdapter, ValidationError

    path = data_folder("api_configs") / "families.json"
    try:
        return TypeAdapter(tuple[ModelFamily, ...]).validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise ConfigError(f"{path}: is not a table of model families ({reason(error)[:200]})") from error


def _path(wire: str, endpoint: str, model: str) -> Path:
    from hashlib import sha256

    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    name = sha256("\0".join((wire, endpoint, model)).encode()).hexdigest()[:24]
    return home / "pyvision" / "profiles" / f"{name}.json"
