"""The providers of web search, one row each (Tavily, SerpAPI, the package ddgs), and the client for their HTTP APIs.

Wire formats follow docs.tavily.com (POST /search), serpapi.com/search-api and /api-status-and-error-codes, and the
README of ddgs. They were not tested against the real services, only against local servers. A response is handled by
its status, and an error is one line without the key:

200                         its JSON object
401, 403                    ConfigError that names the variable of the key
408, 425, 429, 5xx          retried, after Retry-After if there is one and time is left for it
other                       ToolError
no connection               retried
timeout                     ToolError
not a JSON object           ToolError
"""

from __future__ import annotations

import importlib
import json
import math
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlencode, urlsplit
from urllib.request import getproxies, proxy_bypass

from pyvision.config.model_config import is_local
from pyvision.errors import ConfigError, MissingExtra, ToolError
from pyvision.text.redaction import Redactor

if TYPE_CHECKING:
    from pyvision.tools.web.transport import HttpRequest

_WEB_ADDRESS = re.compile(r"https?://[^\s<>]{1,2000}")
_RETRIED = frozenset((408, 425, 429, 500, 502, 503, 504))
_DETAIL_CHARS = 200


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One result of a provider. text: a few sentences of the page; score: 0 to 1, None if there is none."""

    title: str
    url: str
    text: str
    score: float | None = None


@dataclass(frozen=True, slots=True)
class SearchResults:
    """results: best first. answer: a direct answer by the provider, usually empty."""

    results: tuple[SearchResult, ...]
    answer: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"results": [asdict(result) for result in self.results], "answer": self.answer}


@dataclass(frozen=True, slots=True)
class ClientLimits:
    """seconds: for one search, with all attempts and waits. bytes: of a response."""

    seconds: float = 20.0
    attempts: int = 3
    first_wait_s: float = 0.5
    bytes: int = 4 * 2**20


@dataclass(frozen=True, slots=True)
class ProviderClient:
    """Sends requests to one provider. key_variable: the environment variable that holds its key."""

    name: str
    address: str
    key: str = field(repr=False)
    key_variable: str
    limits: ClientLimits = ClientLimits()
    wait: Callable[[float], None] = time.sleep

    def get(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        """The JSON object at a path. Raises ToolError, and ConfigError for a rejected key."""
        return self._send("GET", f"{path}?{urlencode(query)}", {}, b"")

    def post(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
        """The same, for a JSON body."""
        return self._send(
            "POST", path, {"Content-Type": "application/json", **headers}, json.dumps(body).encode()
        )

    def _send(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
        from pyvision.tools.web.transport import HttpRequest

        until = time.monotonic() + self.limits.seconds
        url = self.address.rstrip("/") + path
        request = HttpRequest(
            method, url, {"Accept": "application/json", **headers}, until, body, proxy=_proxy(url)
        )
        backoff_s = self.limits.first_wait_s
        for left in reversed(range(self.limits.attempts)):
            outcome = self._attempt(request)
            if isinstance(outcome, dict):
                return outcome
            delay_s = backoff_s if outcome.delay_s is None else outcome.delay_s
            if not left:
                raise self._error(f"{outcome.why}, in {self.limits.attempts} attempts")
            if time.monotonic() + delay_s >= until:
                raise self._error(f"{outcome.why}; it asks to wait {delay_s:.0f} s, which is too long")
            self.wait(delay_s)
            backoff_s *= 2
        raise AssertionError("limits.attempts must be at least 1")

    def _attempt(self, request: HttpRequest) -> dict[str, Any] | _Retry:
        from pyvision.tools.web.transport import TooLarge, Unreadable, open_response

        try:
            with open_response(request) as response:
                body = response.read(self.limits.bytes)
        except TimeoutError:
            raise self._error(f"no response within {self.limits.seconds:g} s") from None
        except (TooLarge, Unreadable) as error:
            raise self._error(f"cannot read the response: {error}") from None
        except OSError as error:
            return _Retry(f"cannot be reached ({self._redact(str(error))})")
        if response.status == 200:
            return self._parse_object(body)
        return self._check_status(response.status, response.headers, body)

    def _check_status(self, status: int, headers: Mapping[str, str], body: bytes) -> _Retry:
        detail = self._redact(_error_message(body))
        why = f"answered {status}" + (f" ({detail})" if detail else "")
        if status in (401, 403):
            raise ConfigError(f"{self._where}: the key was rejected ({status}); check {self.key_variable}")
        if status in _RETRIED:
            return _Retry(why, _retry_after_s(headers.get("retry-after", "")))
        raise self._error(why)

    def _parse_object(self, body: bytes) -> dict[str, Any]:
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            raise self._error("the response is not JSON") from None
        if not isinstance(found, dict):
            raise self._error(f"the response is a JSON {type(found).__name__}, not an object")
        return found

    @property
    def _where(self) -> str:
        return f"web_search: {self.name} at {urlsplit(self.address).hostname}"

    def _error(self, why: str) -> ToolError:
        return ToolError(f"{self._where}: {why}")

    def _redact(self, text: str) -> str:
        """One short line without the key."""
        return " ".join(Redactor([self.key]).text(text).split())[:_DETAIL_CHARS]


Search: TypeAlias = Callable[[ProviderClient, str, int], SearchResults]  # client, query, number of results


@dataclass(frozen=True, slots=True)
class SearchProvider:
    """One row. key_variable: empty if no key is needed. address_variable: overrides the address, for a gateway."""

    search: Search
    address: str = ""
    key_variable: str = ""
    address_variable: str = ""


def parse_results(value: object) -> SearchResults | None:
    """Read the result of `to_json`, from the cache; None for anything else."""
    match value:
        case {"results": list(results), "answer": str(answer)}:
            return SearchResults(
                tuple(_parse_result(each) for each in results if isinstance(each, dict)), answer
            )
    return None


def _parse_result(result: Mapping[str, Any]) -> SearchResult:
    title, url, text = (_text(result, key) for key in ("title", "url", "text"))
    return SearchResult(title, url, text, _score(result.get("score")))


def _tavily(client: ProviderClient, query: str, count: int) -> SearchResults:
    body = {"query": query, "max_results": count, "search_depth": "basic", "include_answer": False}
    answer = client.post("/search", body, {"Authorization": f"Bearer {client.key}"})
    return SearchResults(_results(answer.get("results"), "url", "content", count))


def _serpapi(client: ProviderClient, query: str, count: int) -> SearchResults:
    parameters = {"engine": "google", "q": query, "num": str(count), "api_key": client.key}
    answer = client.get("/search.json", parameters)
    box = answer.get("answer_box")
    panel = answer.get("knowledge_graph")
    rows: list[Mapping[str, Any]] = (
        [_panel(panel)] if isinstance(panel, dict) and panel.get("description") else []
    )
    rows += list(_dicts(answer.get("organic_results"))) + list(_dicts(answer.get("related_questions")))
    error = answer.get("error")
    if not rows and isinstance(error, str) and "returned any results" not in error:
        raise ToolError(f"web_search: serpapi answered with an error: {' '.join(error.split())[:200]}")
    direct = _text(box, "answer") or _text(box, "snippet") if isinstance(box, dict) else ""
    return SearchResults(_results(rows, "link", "snippet", count), direct)


def _panel(panel: Mapping[str, Any]) -> dict[str, Any]:
    """The knowledge panel, as a row like the others."""
    source = panel.get("source")
    link = source.get("link") if isinstance(source, dict) else panel.get("website")
    return {"title": panel.get("title"), "link": link, "snippet": panel.get("description")}


def ddgs_with(load: Callable[[str], Any]) -> Search:
    """A search with the package ddgs; `load` imports a module by name."""

    def search(client: ProviderClient, query: str, count: int) -> SearchResults:
        try:
            package, errors = load("ddgs"), load("ddgs.exceptions")
        except ImportError:
            raise MissingExtra("ddgs", "web") from None
        seconds = max(1, int(client.limits.seconds))
        try:
            rows = package.DDGS(timeout=seconds).text(query, max_results=count)
        except errors.DDGSException as error:
            if "no results" in str(error).lower():
                return SearchResults(())
            raise ToolError(f"web_search: ddgs: {' '.join(str(error).split())[:200]}") from None
        return SearchResults(_results(rows, "href", "body", count))

    return search


def _results(rows: object, link: str, text: str, count: int) -> tuple[SearchResult, ...]:
    """The rows with a web address, each address once."""
    results: dict[str, SearchResult] = {}
    for row in _dicts(rows):
        url = _text(row, link)
        if _WEB_ADDRESS.fullmatch(url) and url.isprintable() and url not in results:
            title = _text(row, "title") or _text(row, "question")
            results[url] = SearchResult(title, url, _text(row, text), _score(row.get("score")))
    return tuple(results.values())[:count]


def _dicts(rows: object) -> Iterable[Mapping[str, Any]]:
    return (row for row in rows if isinstance(row, dict)) if isinstance(rows, Sequence) else ()


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    return value if isinstance(value, str) else ""


def _score(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return None
    return float(min(1.0, max(0.0, value)))


PROVIDERS: Mapping[str, SearchProvider] = {
    "ddgs": SearchProvider(ddgs_with(importlib.import_module)),
    "tavily": SearchProvider(_tavily, "https://api.tavily.com", "TAVILY_API_KEY", "TAVILY_BASE_URL"),
    "serpapi": SearchProvider(_serpapi, "https://serpapi.com", "SERPAPI_API_KEY", "SERPAPI_BASE_URL"),
}


@dataclass(frozen=True, slots=True)
class _Retry:
    """Why an attempt failed, and how long the provider asks to wait."""

    why: str
    delay_s: float | None = None


def _error_message(body: bytes) -> str:
    """The message in the body of an error, if it is JSON."""
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
    """The proxy from the environment, if one applies to this address."""
    parts = urlsplit(url)
    if is_local(url) or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxy = getproxies().get(parts.scheme)
    return proxy if proxy and proxy.startswith(("http://", "https://")) else None
