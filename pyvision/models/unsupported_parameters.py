"""Parameters that an endpoint does not accept: known from a table, or learnt from its 400s.

What is learnt holds for every model object of this process with the same model and endpoint. The table
is that of families in `config.endpoints`.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from functools import cache

from pyvision.config.endpoints import families_of
from pyvision.config.model_config import ModelConfig

_UNSUPPORTED = re.compile(
    r"support|unrecognized|unknown|not permitted|not allowed|may only be set|unexpected|deprecated|not available"
    r"|could not be verified|without its required|invalid `?signature",
    re.IGNORECASE,
)
_BAD_VALUE = re.compile(r"too large|at most|at least|must be (?:less|greater|between)|exceeds|maximum", re.I)
_TOOLS_WHILE_REASONING = re.compile(
    r"\btools with reasoning", re.I
)  # it is the tools that the model refuses here
_CONTENT = ("messages", "input", "system", "content")  # what a complaint may be about that is no parameter


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
    return remember(config.wire, config.address, config.model or "", config.refused)


def find_refused(text: str, param: str | None, sent: Mapping[str, str]) -> str | None:
    """The parameter that the endpoint names as not accepted.

    sent: parameter -> the pattern it is named by in a message. A value that is out of range is the caller's mistake.
    """
    head = re.split(r"[.\[]", param)[0] if param else ""
    is_other = _BAD_VALUE.search(text) or _TOOLS_WHILE_REASONING.search(text)
    if head in _CONTENT or is_other or not _UNSUPPORTED.search(text):
        return None
    if head in sent:
        return head
    return next((name for name, pattern in sent.items() if re.search(pattern, text)), None)


@cache
def remember(wire: str, address: str, model: str, refused: tuple[str, ...]) -> UnsupportedParameters:
    """One object for all callers with the same arguments: this is the memory of the process."""
    known = [parameter for family in families_of(wire, model) for parameter in family.refused]
    return UnsupportedParameters(frozenset((*known, *refused)))
