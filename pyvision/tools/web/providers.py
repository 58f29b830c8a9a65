"""Who can search the web: Tavily, SerpAPI and the package ddgs, one row each.

Sources of the wire formats: docs.tavily.com (POST /search), serpapi.com/search-api and /api-status-and-error-codes,
the README of ddgs. None of them was asked while this was written: the tests speak to servers of their own.
"""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from pyvision.errors import MissingExtra, ToolError
from pyvision.tools.web.service import Service


@dataclass(frozen=True, slots=True)
class Result:
    """One result as the provider gave it: text is a few sentences of the page. score: 0..1, None where it has none."""

    title: str
    url: str
    text: str
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """results: best first. answer: what the provider claims to be the answer, empty for most."""

    results: tuple[Result, ...]
    answer: str = ""

    def plain(self) -> dict[str, Any]:
        return {"results": [asdict(result) for result in self.results], "answer": self.answer}


_WEB_ADDRESS = re.compile(r"https?://[^\s<>]{1,2000}")
Search: TypeAlias = Callable[[Service, str, int], Found]  # service, query, how many results


@dataclass(frozen=True, slots=True)
class Provider:
    """One row. key_variable: empty where no key is needed. address_variable: overrides the address, for a gateway."""

    search: Search
    address: str = ""
    key_variable: str = ""
    address_variable: str = ""


def parse_found(kept: object) -> Found | None:
    """The Found that `plain` made, out of a cache; None for anything else."""
    match kept:
        case {"results": list(results), "answer": str(answer)}:
            return Found(tuple(_keep(each) for each in results if isinstance(each, dict)), answer)
    return None


def _keep(result: Mapping[str, Any]) -> Result:
    title, url, text = (_text(result, key) for key in ("title", "url", "text"))
    return Result(title, url, text, _score(result.get("score")))


def _tavily(service: Service, query: str, count: int) -> Found:
    body = {"query": query, "max_results": count, "search_depth": "basic", "include_answer": False}
    answer = service.post("/search", body, {"Authorization": f"Bearer {service.key}"})
    return Found(_results(answer.get("results"), "url", "content", count))


def _serpapi(service: Service, query: str, count: int) -> Found:
    asked = {"engine": "google", "q": query, "num": str(count), "api_key": service.key}
    answer = service.get("/search.json", asked)
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
    return Found(_results(rows, "link", "snippet", count), direct)


def _panel(panel: Mapping[str, Any]) -> dict[str, Any]:
    """The knowledge panel as a row like the others."""
    source = panel.get("source")
    link = source.get("link") if isinstance(source, dict) else panel.get("website")
    return {"title": panel.get("title"), "link": link, "snippet": panel.get("description")}


def ddgs_with(load: Callable[[str], Any]) -> Search:
    """A search by the package ddgs; `load` imports a module by its name."""

    def search(service: Service, query: str, count: int) -> Found:
        try:
            package, errors = load("ddgs"), load("ddgs.exceptions")
        except ImportError:
            raise MissingExtra("ddgs", "web") from None
        seconds = max(1, int(service.limits.seconds))
        try:
            rows = package.DDGS(timeout=seconds).text(query, max_results=count)
        except errors.DDGSException as error:
            if "no results" in str(error).lower():
                return Found(())
            raise ToolError(f"web_search: ddgs: {' '.join(str(error).split())[:200]}") from None
        return Found(_results(rows, "href", "body", count))

    return search


def _results(rows: object, link: str, text: str, count: int) -> tuple[Result, ...]:
    """The rows that hold a web address, each address once."""
    results: dict[str, Result] = {}
    for row in _dicts(rows):
        url = _text(row, link)
        if _WEB_ADDRESS.fullmatch(url) and url.isprintable() and url not in results:
            title = _text(row, "title") or _text(row, "question")
            results[url] = Result(title, url, _text(row, text), _score(row.get("score")))
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


PROVIDERS: Mapping[str, Provider] = {
    "ddgs": Provider(ddgs_with(importlib.import_module)),
    "tavily": Provider(_tavily, "https://api.tavily.com", "TAVILY_API_KEY", "TAVILY_BASE_URL"),
    "serpapi": Provider(_serpapi, "https://serpapi.com", "SERPAPI_API_KEY", "SERPAPI_BASE_URL"),
}
