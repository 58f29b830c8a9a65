"""Parameters that an endpoint does not accept: known from a table, or learnt from its 400s.

What is learnt holds for every model object of this process with the same model and endpoint. The table
is `api_configs/families.json`: patterns of model names, what they refuse, and the source of each line.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache

from pyvision.config.endpoints import Placement
from pyvision.config.files import data_folder
from pyvision.config.model_config import ModelConfig
from pyvision.errors import ConfigError, reason

_UNSUPPORTED = re.compile(
    r"support|unrecognized|unknown|not permitted|not allowed|unexpected|deprecated|not available"
    r"|could not be verified|without its required|invalid `?signature",
    re.IGNORECASE,
)
_BAD_VALUE = re.compile(r"too large|at most|at least|must be (?:less|greater|between)|exceeds|maximum", re.I)
_CONTENT = ("messages", "input", "system", "content")  # what a complaint may be about that is no parameter


@dataclass(frozen=True, slots=True)
class Family:
    """Models that refuse the same parameters. models: patterns of their names. wires: the wires that it holds for.

    calls_tools: whether they are known to handle tools better than code in their text. image_placement: where they see
    the picture of a tool's result, if not where their wire puts it.
    """

    models: tuple[str, ...]
    refused: tuple[str, ...] = ()
    source: str = ""
    calls_tools: bool = False
    image_placement: Placement | None = None
    wires: tuple[str, ...] = ("openai", "responses", "anthropic", "gemini")


class UnsupportedParameters:
    """The parameters that one model behind one endpoint does not accept. Shared by threads."""

    def __init__(self, known: frozenset[str]) -> None:
        self._names = known
        self._lock = threading.Lock()

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def add(self, name: str) -> bool:
        """Remember it. Returns whether it is new."""
        with self._lock:
            is_news = name not in self._names
            self._names |= {name}
            return is_news


def find_unsupported(config: ModelConfig) -> UnsupportedParameters:
    """What is known so far about the model of this configuration."""
    return _remember(config.wire, config.address, config.model or "", config.refused)


def find_refused(text: str, param: str | None, sent: Mapping[str, str]) -> str | None:
    """The parameter that the endpoint names as not accepted.

    sent: parameter -> the pattern it is named by in a message. A value that is out of range is the caller's mistake.
    """
    head = re.split(r"[.\[]", param)[0] if param else ""
    if head in _CONTENT or _BAD_VALUE.search(text) or not _UNSUPPORTED.search(text):
        return None
    if head in sent:
        return head
    return next((name for name, pattern in sent.items() if re.search(pattern, text)), None)


@cache
def _remember(wire: str, address: str, model: str, refused: tuple[str, ...]) -> UnsupportedParameters:
    """One object for all callers with the same arguments: this is the memory of the process."""
    known = [parameter for family in _families_of(wire, model) for parameter in family.refused]
    return UnsupportedParameters(frozenset((*known, *refused)))


def prefers_tools(config: ModelConfig) -> bool:
    """Whether the model of this configuration is of a family that handles tools better than code in its text."""
    return any(family.calls_tools for family in _families_of(config.wire, config.model or ""))


def placement_of(config: ModelConfig) -> Placement | None:
    """Where models of this family see the picture of a tool's result; None: where their wire puts it."""
    families = _families_of(config.wire, config.model or "")
    return next((family.image_placement for family in families if family.image_placement), None)


def _families_of(wire: str, model: str) -> Iterator[Family]:
    name = model.rpartition("/")[2].lower()  # OpenRouter and its like put the vendor before it
    for family in _families():
        if wire in family.wires and any(fnmatchcase(name, pattern) for pattern in family.models):
            yield family


@cache
def _families() -> tuple[Family, ...]:
    from pydantic import TypeAdapter, ValidationError

    path = data_folder("api_configs") / "families.json"
    try:
        return TypeAdapter(tuple[Family, ...]).validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise ConfigError(f"{path}: no table of model families ({reason(error)[:200]})") from error
