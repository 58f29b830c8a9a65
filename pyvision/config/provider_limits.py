"""What an endpoint accepts in one request: a row for each provider in `api_configs/limits.json`, with its source.

An endpoint without a row is taken to accept what `EndpointLimits()` says, which every known one does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from urllib.parse import urlsplit

from pyvision.config.files import data_folder
from pyvision.config.model_config import OPENAI_URL, ModelConfig
from pyvision.errors import ConfigError, reason
from pyvision.images.fit import FitLimits

FILE = "limits.json"
_BY_WIRE: Mapping[str, str] = {"anthropic": "anthropic", "responses": "openai"}
_BY_HOST: Mapping[str, str] = {
    "api.openai.com": "openai",
    "openai.azure.com": "openai",
    "api.anthropic.com": "anthropic",
}


@dataclass(frozen=True, slots=True)
class EndpointLimits:
    """The most that one request may hold, pictures measured as base64.

    many, many_side_px: with more than `many` pictures in the request, no side may be longer than `many_side_px`.
    source: where the numbers stand, and when they were read.
    """

    side_px: int = 2048
    picture_bytes: int = 5_000_000
    pictures: int = 100
    request_bytes: int = 30_000_000
    many: int | None = None
    many_side_px: int | None = None
    source: str = "what every endpoint with a row accepts"

    @property
    def fit(self) -> FitLimits:
        """To what every picture is fitted, the first one too: what was sent never changes with the next picture.

        Never more than a picture of ours needs: models scale larger ones down, and every byte is sent each turn.
        """
        ours = FitLimits()
        side_px = min(ours.side_px, self.side_px, self.many_side_px or self.side_px)
        return FitLimits(side_px, file_bytes=min(ours.file_bytes, self.picture_bytes // 4 * 3))


def limits_for(config: ModelConfig) -> EndpointLimits:
    """The row that the configuration names, or the one of its wire or host. Raises ConfigError for an unknown one."""
    rows = _rows()
    name = getattr(config, "limits", None) or _BY_WIRE.get(config.wire) or _by_host(config)
    if name is None:
        return EndpointLimits()
    if name not in rows:
        raise ConfigError(f"limits {name!r}: no such row in {FILE}; known rows are {', '.join(rows)}")
    return rows[name]


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
        raise ConfigError(f"{path}: is no table of limits ({reason(error)[:200]})") from error
