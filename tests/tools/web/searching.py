"""A web_search whose provider is a server on loopback, and what that provider has to give."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pyvision.errors import ToolError
from pyvision.tools.web import WebSearch, web_tool
from pyvision.tools.web.providers import PROVIDERS
from pyvision.types import Message, Observation, Reply, ToolRequest
from tests.tools.web.site import Served, Site

KEY = "tvly-very-secret+/0123456789"
OWLS = {
    "results": [
        {"title": "Owls", "url": "https://owls.example.com/", "content": "Owls hunt at night.", "score": 0.9},
        {"title": "Barn owl", "url": "https://barn.example.com/", "content": "Pale.", "score": 0.4},
    ]
}
GOOGLE = {
    "answer_box": {"answer": "at night"},
    "knowledge_graph": {
        "title": "Owl",
        "description": "A bird.",
        "source": {"link": "https://panel.example.com/"},
    },
    "organic_results": [{"title": "Owls", "link": "https://owls.example.com/", "snippet": "They hunt."}],
    "related_questions": [
        {"question": "Do owls sleep?", "link": "https://faq.example.com/", "snippet": "By day."}
    ],
}


@dataclass
class Searching:
    """A web_search whose provider is a site on loopback; waits take no time and are recorded."""

    site: Site
    folder: Path
    provider: str = "tavily"
    where: str = ""
    waits: list[float] = field(default_factory=list)

    @property
    def environ(self) -> dict[str, str]:
        row = PROVIDERS[self.provider]
        return {
            row.key_variable: KEY,
            row.address_variable: f"http://127.0.0.1:{self.site.port}",
            "PYVISION_CACHE": str(self.folder),
        }

    def tool(self, **settings: Any) -> WebSearch:
        return web_tool(self.provider, self.where, environ=self.environ, wait=self.waits.append, **settings)

    def __call__(self, query: str = "when do owls hunt", **settings: Any) -> Observation:
        return search(self.tool(**settings), query)


def nobody(role: str, messages: Sequence[Message]) -> Reply:
    raise AssertionError("web_search asks no model")


def search(tool: WebSearch, query: str) -> Observation:
    return tool(ToolRequest(query), nobody)


def json_of(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Served:
    return Served(json.dumps(value).encode(), status, "application/json", headers or {})


def failure(searching: Searching, query: str = "owls", kind: type[Exception] = ToolError) -> str:
    with pytest.raises(kind) as caught:
        searching(query)
    message = str(caught.value)
    assert "\n" not in message
    assert KEY not in message
    return message
