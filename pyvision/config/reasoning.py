"""How each model family is asked to reason more or less: `api_configs/reasoning.json`.

The first row whose wire, endpoint and model match counts. A level that a row leaves out cannot be chosen for its
models. Some families know only on and off: there, the three levels are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Literal
from urllib.parse import urlsplit

from pyvision.config.files import data_folder
from pyvision.config.model_config import ModelConfig
from pyvision.errors import ConfigError, reason

Level = Literal["low", "medium", "high", "off"]
LEVELS: tuple[Level, ...] = ("low", "medium", "high", "off")
_FILE = "reasoning.json"


@dataclass(frozen=True, slots=True)
class ReasoningFamily:
    """Models that are asked in the same way.

    endpoints: patterns of `host` or `host:port`. low, …: fields of a request.
    """

    family: str
    models: tuple[str, ...]
    wires: tuple[str, ...]
    source: str
    endpoints: tuple[str, ...] = ("*",)
    low: Mapping[str, Any] | None = None
    medium: Mapping[str, Any] | None = None
    high: Mapping[str, Any] | None = None
    off: Mapping[str, Any] | None = None

    @property
    def levels(self) -> tuple[Level, ...]:
        """Those that can be chosen."""
        return tuple(level for level in LEVELS if getattr(self, level) is not None)


def find_family(config: ModelConfig) -> ReasoningFamily | None:
    """The row for this model behind this endpoint."""
    name = (config.model or "").rpartition("/")[2].lower()  # OpenRouter and its like put the vendor before it
    place = urlsplit(config.address)
    hosts = (place.hostname or "", place.netloc.rpartition("@")[2])
    for row in _rows():
        is_there = any(fnmatchcase(host, pattern) for host in hosts for pattern in row.endpoints)
        if config.wire in row.wires and is_there and any(fnmatchcase(name, each) for each in row.models):
            return row
    return None


def reasoning_fields(config: ModelConfig) -> Mapping[str, Any]:
    """The fields of a request that set `config.reasoning`; none if it is not set. Raises ConfigError."""
    if config.reasoning is None:
        return {}
    family = find_family(config)
    if family is None:
        raise ConfigError(
            f"reasoning {config.reasoning!r}: PyVision does not know how to ask {config.model} for it over wire "
            f"{config.wire!r}; set extra_body instead, or leave reasoning out"
        )
    chosen: Mapping[str, Any] | None = getattr(family, config.reasoning)
    if chosen is None:
        levels = ", ".join(family.levels)
        raise ConfigError(
            f"reasoning {config.reasoning!r}: {config.model} ({family.family}) cannot do that; choose {levels}"
        )
    return chosen


@cache
def _rows() -> tuple[ReasoningFamily, ...]:
    from pydantic import TypeAdapter, ValidationError

    path = data_folder("api_configs") / _FILE
    try:
        return TypeAdapter(tuple[ReasoningFamily, ...]).validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise ConfigError(f"{path}: is not a table of reasoning settings ({reason(error)[:200]})") from error
