"""One request to a search provider: retried where that may help, its faults told in one line that holds no key.

status                      what is done
200                         its JSON object
401, 403                    ConfigError that names the variable of the key
408, 429, 5xx               again, after Retry-After where there is one and time is left for it
other                       ToolError
no connection, silence      again
something else than JSON    ToolError
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit
from urllib.request import getproxies, proxy_bypass

from pyvision.config.model_config import is_local
from pyvision.errors import ConfigError, ToolError
from pyvision.text.sanitize import Redactor

if TYPE_CHECKING:
    from pyvision.tools.web.transport import Exchange

_AGAIN = frozenset((408, 425, 429, 500, 502, 503, 504))
_DETAIL_CHARS = 200


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """seconds: for one search, its attempts and the waits between them. bytes: of an answer."""

    seconds: float = 20.0
    attempts: int = 3
    first_wait_s: float = 0.5
    bytes: int = 4 * 2**20


@dataclass(frozen=True, slots=True)
class Service:
    """One provider behind HTTP. key_variable: the environment variable that holds its key."""

    name: str
    address: str
    key: str = field(repr=False)
    key_variable: str
    limits: ServiceLimits = ServiceLimits()
    wait: Callable[[float], None] = time.sleep

    def get(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        """The JSON object behind a path. Raises ToolError, and ConfigError for a key that is refused."""
        return self._ask("GET", f"{path}?{urlencode(query)}", {}, b"")

    def post(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
        """The same for a body of JSON."""
        return self._ask(
            "POST", path, {"Content-Type": "application/json", **headers}, json.dumps(body).encode()
        )

    def _ask(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
        from pyvision.tools.web.transport import Exchange

        until = time.monotonic() + self.limits.seconds
        url = self.address.rstrip("/") + path
        exchange = Exchange(
            method, url, {"Accept": "application/json", **headers}, until, body, proxy=_proxy(url)
        )
        usual_s = self.limits.first_wait_s
        for left in reversed(range(self.limits.attempts)):
            outcome = self._attempt(exchange)
            if isinstance(outcome, dict):
                return outcome
            wait_s = usual_s if outcome.wait_s is None else outcome.wait_s
            if not left:
                raise self._error(f"{outcome.why}, {self.limits.attempts} times in a row")
            if time.monotonic() + wait_s >= until:
                raise self._error(
                    f"{outcome.why}; the next attempt is {wait_s:.0f} s away, which is too long"
                )
            self.wait(wait_s)
            usual_s *= 2
        raise AssertionError("there is at least one attempt")

    def _attempt(self, exchange: Exchange) -> dict[str, Any] | _Again:
        from pyvision.tools.web.transport import TooLarge, Unreadable, open_response

        try:
            with open_response(exchange) as response:
                body = response.read(self.limits.bytes)
        except TimeoutError:
            raise self._error(f"no answer within {self.limits.seconds:g} s") from None
        except (TooLarge, Unreadable) as error:
            raise self._error(f"its answer cannot be read: {error}") from None
        except OSError as error:
            return _Again(f"cannot be reached ({self._redact(str(error))})")
        if response.status == 200:
            return self._object(body)
        return self._refusal(response.status, response.headers, body)

    def _refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> _Again:
        detail = self._redact(_complaint(body))
        why = f"answered {status}" + (f" ({detail})" if detail else "")
        if status in (401, 403):
            raise ConfigError(f"{self._where}: the key was refused ({status}); set {self.key_variable}")
        if status in _AGAIN:
            return _Again(why, _retry_after_s(headers.get("retry-after", "")))
        raise self._error(why)

    def _object(self, body: bytes) -> dict[str, Any]:
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            raise self._error("answered with something else than JSON") from None
        if not isinstance(found, dict):
            raise self._error(f"answered with a JSON {type(found).__name__}, not an object")
        return found

    @property
    def _where(self) -> str:
        return f"web_search: {self.name} at {urlsplit(self.address).hostname}"

    def _error(self, why: str) -> ToolError:
        return ToolError(f"{self._where}: {why}")

    def _redact(self, text: str) -> str:
        """One short line without the key."""
        return " ".join(Redactor([self.key]).text(text).split())[:_DETAIL_CHARS]


@dataclass(frozen=True, slots=True)
class _Again:
    """Why an attempt came to nothing, and how long the provider asks to wait."""

    why: str
    wait_s: float | None = None


def _complaint(body: bytes) -> str:
    """What an error says of itself, if it says so in JSON."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    while isinstance(found, dict):
        found = next((found[key] for key in ("error", "detail", "message") if key in found), "")
    return found if isinstance(found, str) else ""


def _retry_after_s(header: str) -> float | None:
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _proxy(url: str) -> str | None:
    """The proxy of the environment, where one is to be used for this address."""
    parts = urlsplit(url)
    if is_local(url) or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxy = getproxies().get(parts.scheme)
    return proxy if proxy and proxy.startswith(("http://", "https://")) else None
