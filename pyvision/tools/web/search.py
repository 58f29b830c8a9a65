"""The tool web_search: query a provider, cache the response, and return it as text marked as untrusted.

Off unless chosen: `--tool web_search=PROVIDER[:SETTING,…]`. `only-cache` sends no request and answers from the cache,
without a key; `results=N` (default 5) is the number of results, `pages=N` (default 0) for how many of them the page
itself is fetched.

The cache makes a run replayable without network: one JSON file per request, named by the hash of provider, query and
options, never of a key, in $PYVISION_CACHE/web, else $XDG_CACHE_HOME/pyvision/web, else ~/.cache/pyvision/web. Files
can be deleted at any time; the request is then sent again.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from pyvision.config.environment import environment
from pyvision.config.files import write_atomic
from pyvision.config.model_config import without_credentials
from pyvision.errors import ConfigError, ToolError
from pyvision.types import Ask, Observation, Source, ToolRequest

if TYPE_CHECKING:
    from pyvision.tools.web.fetch import WebPage
    from pyvision.tools.web.providers import ProviderClient, SearchProvider, SearchResult, SearchResults


NAME = "web_search"
_QUERY_CHARS = 400  # the most that Tavily takes
_MAX_COUNT = 20
_CACHE_FORMAT = 1
_LOG = logging.getLogger("pyvision.tools.web")
_TITLE_CHARS, _SNIPPET_CHARS, _PAGE_CHARS = 200, 1_000, 4_000


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """What follows the colon of `--tool web_search=PROVIDER:…`."""

    only_cache: bool = False
    results: int = 5
    pages: int = 0


_COUNTS: Mapping[str, Callable[[SearchSettings, int], SearchSettings]] = {
    "results": lambda settings, count: replace(settings, results=max(1, count)),
    "pages": lambda settings, count: replace(settings, pages=count),
}


@dataclass(frozen=True, slots=True)
class WebSearch:
    """Searches the web for the text of the request. read: fetches a page, under the rules of `fetch`.

    data: {"hits": [{"id", "title", "text", "score", "path", "url"}], "answer"}: id is the url, path is empty; score,
    0 to 1, is the provider's, or 1/rank if it gives none.
    """

    is_repeatable: ClassVar[bool] = True
    name: ClassVar[str] = NAME
    purpose: ClassVar[str] = "searches the web with a query in words: facts about things whose name is known"
    provider: SearchProvider
    client: ProviderClient
    settings: SearchSettings
    read: Callable[[str], WebPage]
    cache: Cache = field(repr=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that no file of a run may contain."""
        return (self.client.key,) if self.client.key else ()

    def __call__(self, request: ToolRequest, ask: Ask) -> Observation:
        query = " ".join(request.text.split())[:_QUERY_CHARS]
        if not query:
            raise ToolError(f"{NAME}: the query is empty; give words to search for")
        found = self._find(query)
        results = tuple(self._with_page(result, at) for at, result in enumerate(found.results))
        return _observation(replace(found, results=results))

    def _find(self, query: str) -> SearchResults:
        from pyvision.tools.web.providers import parse_results

        key = {"provider": self.client.name, "query": query, "results": self.settings.results}
        cached = parse_results(self.cache.find(key))
        if cached is not None:
            return cached
        if self.settings.only_cache:
            raise ToolError(f"{NAME}: no cached result for {query!r}, and only-cache sends no request")
        found = self.provider.search(self.client, query, self.settings.results)
        self.cache.store(key, found.to_json())
        return found

    def _with_page(self, result: SearchResult, at: int) -> SearchResult:
        """Add the text of its page, for the first `pages` results; unchanged if the page cannot be fetched."""
        if at >= self.settings.pages:
            return result
        key = {"page": result.url}
        cached = self.cache.find(key)
        if isinstance(cached, str):
            return replace(result, text=cached)
        if self.settings.only_cache:
            return result
        try:
            page = self.read(result.url)
        except ToolError:
            return result
        text = f"{result.text}\n{page.text[:_PAGE_CHARS]}"
        self.cache.store(key, text)
        return replace(result, text=text)


def web_tool(  # noqa: PLR0913 - the keywords are for tests and other programs
    provider: str,
    where: str = "",
    *,
    environ: Mapping[str, str] | None = None,
    read: Callable[[str], WebPage] | None = None,
    wait: Callable[[float], None] = time.sleep,
    search: Callable[[ProviderClient, str, int], SearchResults] | None = None,
) -> WebSearch:
    """The tool of a provider. Raises ConfigError for an unknown provider, a missing key or a wrong setting.

    where: the settings after the colon. environ: holds keys and addresses, by default that of the process.
    read: replaces `fetch`; search: replaces the provider.
    """
    from pyvision.tools.web.fetch import fetch
    from pyvision.tools.web.providers import PROVIDERS, ProviderClient

    environ = environment() if environ is None else environ
    if provider not in PROVIDERS:
        known = ", ".join(PROVIDERS)
        problem = f"has no provider {provider!r}" if provider else "is off"
        raise ConfigError(
            f"{NAME} {problem}; choose one: --tool {NAME}=PROVIDER, with PROVIDER one of {known}"
        )
    row, settings = PROVIDERS[provider], _settings(provider, where)
    client = ProviderClient(
        provider, _address(row, environ), _key(row, settings, environ), row.key_variable, wait=wait
    )
    row = replace(row, search=search) if search else row
    return WebSearch(row, client, settings, read or fetch, Cache(cache_folder(environ)))


def _settings(provider: str, where: str) -> SearchSettings:
    settings = SearchSettings()
    for part in filter(None, (piece.strip() for piece in where.split(","))):
        name, _, value = part.partition("=")
        if part == "only-cache":
            settings = replace(settings, only_cache=True)
        elif name in _COUNTS and value.isascii() and value.isdigit() and int(value) <= _MAX_COUNT:
            settings = _COUNTS[name](settings, int(value))
        else:
            known = f"only-cache, results=N and pages=N, N up to {_MAX_COUNT}"
            raise ConfigError(
                f"--tool {NAME}={provider}:{where}: invalid setting {part!r}; valid are {known}"
            )
    return settings


def _key(row: SearchProvider, settings: SearchSettings, environ: Mapping[str, str]) -> str:
    key = environ.get(row.key_variable, "").strip() if row.key_variable else ""
    if row.key_variable and not key and not settings.only_cache:
        raise ConfigError(f"{NAME} has no key; set {row.key_variable}, or choose ddgs, which needs none")
    return key


def _address(row: SearchProvider, environ: Mapping[str, str]) -> str:
    address = environ.get(row.address_variable, "").strip() if row.address_variable else ""
    if not address:
        return row.address
    try:
        parts = urlsplit(address)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is not a number
        is_usable = False
    if not (is_usable and address.isascii()):
        raise ConfigError(
            f"{row.address_variable} is {without_credentials(address)!r}, which is not an address such as {row.address}"
        )
    return address


def _observation(found: SearchResults) -> Observation:
    from pyvision.tools.web.text import clean, clean_line, wrap_untrusted

    if not found.results and not found.answer:
        return Observation("Knowledge: []", {"hits": [], "answer": ""})
    hits = [
        {
            "id": result.url,
            "title": clean_line(result.title, _TITLE_CHARS),
            "text": clean(result.text, _SNIPPET_CHARS + _PAGE_CHARS),
            "score": 1 / rank if result.score is None else result.score,
            "path": "",
            "url": result.url,
        }
        for rank, result in enumerate(found.results, 1)
    ]
    answer = clean_line(found.answer, _SNIPPET_CHARS)
    text = wrap_untrusted("\n".join(_knowledge(hits, answer)), NAME)
    sources = tuple(Source(str(hit["title"]), str(hit["url"])) for hit in hits)
    return Observation(text, {"hits": hits, "answer": answer}, sources)


def _knowledge(hits: list[dict[str, Any]], answer: str) -> list[str]:
    """The lines of a Knowledge block. Each title and content is one line, so that no text can imitate another block."""
    lines = ["Knowledge: ["]
    if answer:
        lines += ["  Title:", f"  Content: High Confidence Response: {answer.removesuffix('.')}.,"]
    for hit in hits:
        lines += [f"  Title: {hit['title']}", f"  Content: {' '.join(hit['text'].split())},"]
    return [*lines, "]"]


class Cache:
    """Responses on disk. Safe for several processes at once: a file appears complete or not at all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, request: Mapping[str, Any]) -> Any | None:
        """The cached response to this request; None if there is none, or if its file is broken."""
        try:
            entry = json.loads(self._path(request).read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(entry, dict) or entry.get("format") != _CACHE_FORMAT:
            return None
        return entry.get("answer") if entry.get("request") == dict(request) else None

    def store(self, request: Mapping[str, Any], answer: Any) -> None:
        """Store a response. If the folder is not writable, log a warning: only a replay needs the file."""
        path = self._path(request)
        entry = {"format": _CACHE_FORMAT, "request": dict(request), "answer": answer}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, json.dumps(entry, indent=1).encode())
        except OSError as error:
            _LOG.warning("cannot write %s: %s", path, error.strerror)

    def _path(self, request: Mapping[str, Any]) -> Path:
        from hashlib import sha256

        name = sha256(json.dumps(dict(request), sort_keys=True).encode()).hexdigest()
        return self._folder / name[:2] / f"{name}.json"


def cache_folder(environ: Mapping[str, str]) -> Path:
    """The folder of the cache in this environment."""
    if own := environ.get("PYVISION_CACHE", "").strip():
        return Path(own) / "web"
    home = environ.get("XDG_CACHE_HOME", "").strip()
    return (Path(home) if home else Path.home() / ".cache") / "pyvision" / "web"
