"""The tool web_search: ask a provider, keep what it gave, hand it on as data that is nobody's instruction.

Off unless chosen: `--tool web_search=PROVIDER[:SETTING,…]`. `only-cache` asks nobody and answers from what is on disk,
without a key; `results=N` (default 5) and `pages=N` (default 0) say how many results are asked for, and of how many
the page itself is read.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from pyvision.config.model_config import without_credentials
from pyvision.errors import ConfigError, ToolError
from pyvision.types import Ask, Observation, Source, ToolRequest

if TYPE_CHECKING:
    from pyvision.tools.web.fetch import Page
    from pyvision.tools.web.providers import Found, Provider, Result
    from pyvision.tools.web.service import Service

NAME = "web_search"
_QUERY_CHARS = 400  # the most that Tavily takes
_MOST = 20
_TITLE_CHARS, _SNIPPET_CHARS, _PAGE_CHARS = 200, 1_000, 4_000


@dataclass(frozen=True, slots=True)
class Settings:
    """What stands behind the colon of `--tool web_search=PROVIDER:…`."""

    only_cache: bool = False
    results: int = 5
    pages: int = 0


_COUNTS: Mapping[str, Callable[[Settings, int], Settings]] = {
    "results": lambda settings, count: replace(settings, results=max(1, count)),
    "pages": lambda settings, count: replace(settings, pages=count),
}


@dataclass(frozen=True, slots=True)
class WebSearch:
    """Searches the web. request: text=the query. read: fetches a page, by the rules of `fetch`.

    data: {"hits": [{"id", "title", "text", "score", "path", "url"}], "answer"}: id is the url and path is empty; score
    0..1 is the provider's, or 1/rank where it gives none.
    """

    name: ClassVar[str] = NAME
    purpose: ClassVar[str] = "searches the web with a query in words: facts about things whose name is known"
    provider: Provider
    service: Service
    settings: Settings
    read: Callable[[str], Page]
    cache: Any = field(repr=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no file of a run may hold."""
        return (self.service.key,) if self.service.key else ()

    def __call__(self, request: ToolRequest, ask: Ask) -> Observation:
        query = " ".join(request.text.split())[:_QUERY_CHARS]
        if not query:
            raise ToolError(f"{NAME}: the query is empty; say what to search for")
        found = self._find(query)
        results = tuple(self._with_page(result, at) for at, result in enumerate(found.results))
        return _observation(replace(found, results=results))

    def _find(self, query: str) -> Found:
        from pyvision.tools.web.providers import parse_found

        key = {"provider": self.service.name, "query": query, "results": self.settings.results}
        kept = parse_found(self.cache.find(key))
        if kept is not None:
            return kept
        if self.settings.only_cache:
            raise ToolError(f"{NAME}: nothing is kept for {query!r}, and only-cache asks nobody")
        found = self.provider.search(self.service, query, self.settings.results)
        self.cache.keep(key, found.plain())
        return found

    def _with_page(self, result: Result, at: int) -> Result:
        """The result with the text of its page, for the first few; only its snippet where that is not to be had."""
        if at >= self.settings.pages:
            return result
        key = {"page": result.url}
        kept = self.cache.find(key)
        if isinstance(kept, str):
            return replace(result, text=kept)
        if self.settings.only_cache:
            return result
        try:
            page = self.read(result.url)
        except ToolError:
            return result
        text = f"{result.text}\n{page.text[:_PAGE_CHARS]}"
        self.cache.keep(key, text)
        return replace(result, text=text)


def web_tool(  # noqa: PLR0913 - what follows the star is for tests and for other programs
    provider: str,
    where: str = "",
    *,
    environ: Mapping[str, str] | None = None,
    read: Callable[[str], Page] | None = None,
    wait: Callable[[float], None] = time.sleep,
    search: Callable[[Service, str, int], Found] | None = None,
) -> WebSearch:
    """The tool of a provider. Raises ConfigError: none chosen, an unknown one, no key, a wrong setting.

    where: the settings, as they stand behind the colon. environ: keys and addresses, the process's unless given.
    read: fetches pages in place of `fetch`; search: asks in place of the provider.
    """
    from pyvision.tools.web.cache import Cache, cache_folder
    from pyvision.tools.web.fetch import fetch
    from pyvision.tools.web.providers import PROVIDERS
    from pyvision.tools.web.service import Service

    environ = os.environ if environ is None else environ
    if provider not in PROVIDERS:
        known = ", ".join(PROVIDERS)
        which = f"has no provider {provider!r}" if provider else "is off"
        raise ConfigError(f"{NAME} {which}; choose one: --tool {NAME}=PROVIDER, with PROVIDER one of {known}")
    row, settings = PROVIDERS[provider], _settings(provider, where)
    service = Service(
        provider, _address(row, environ), _key(row, settings, environ), row.key_variable, wait=wait
    )
    row = replace(row, search=search) if search else row
    return WebSearch(row, service, settings, read or fetch, Cache(cache_folder(environ)))


def _settings(provider: str, where: str) -> Settings:
    settings = Settings()
    for part in filter(None, (piece.strip() for piece in where.split(","))):
        name, _, value = part.partition("=")
        if part == "only-cache":
            settings = replace(settings, only_cache=True)
        elif name in _COUNTS and value.isascii() and value.isdigit() and int(value) <= _MOST:
            settings = _COUNTS[name](settings, int(value))
        else:
            known = f"only-cache, results=N and pages=N, N up to {_MOST}"
            raise ConfigError(f"--tool {NAME}={provider}:{where}: {part!r} is no setting; there are {known}")
    return settings


def _key(row: Provider, settings: Settings, environ: Mapping[str, str]) -> str:
    key = environ.get(row.key_variable, "").strip() if row.key_variable else ""
    if row.key_variable and not key and not settings.only_cache:
        raise ConfigError(f"{NAME} has no key; set {row.key_variable}, or choose ddgs, which needs none")
    return key


def _address(row: Provider, environ: Mapping[str, str]) -> str:
    address = environ.get(row.address_variable, "").strip() if row.address_variable else ""
    if not address:
        return row.address
    try:
        parts = urlsplit(address)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number
        is_usable = False
    if not (is_usable and address.isascii()):
        raise ConfigError(
            f"{row.address_variable} is {without_credentials(address)!r}, no address such as {row.address}"
        )
    return address


def _observation(found: Found) -> Observation:
    from pyvision.tools.web.wrap import clean, clean_line, wrap_untrusted

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
    """The lines of a Knowledge block; each title and each content is one line, so that none can pass for two."""
    lines = ["Knowledge: ["]
    if answer:
        lines += ["  Title:", f"  Content: High Confidence Response: {answer.removesuffix('.')}.,"]
    for hit in hits:
        lines += [f"  Title: {hit['title']}", f"  Content: {' '.join(hit['text'].split())},"]
    return [*lines, "]"]
