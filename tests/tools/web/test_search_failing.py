"""What web_search does when a provider limits, fails, refuses, is silent or responds nonsense."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pyvision.errors import ConfigError, ToolError
from pyvision.tools.web import web_tool
from tests.tools.web.searching import KEY, OWLS, Searching, failure, json_of, search
from tests.tools.web.site import Served, serving


def test_a_rate_limit_is_waited_for_as_long_as_it_says(tmp_path: Path) -> None:
    limited = json_of({"error": "slow down"}, 429, {"Retry-After": "2"})
    with serving({"/search": [limited, json_of(OWLS)]}) as site:
        searching = Searching(site, tmp_path)
        assert len(searching().data["hits"]) == 2
    assert searching.waits == [2.0]


@pytest.mark.parametrize("header", ["3600", "Wed, 21 Oct 2099 07:28:00 GMT"])
def test_a_wait_beyond_the_time_limit_is_an_error_at_once(tmp_path: Path, header: str) -> None:
    with serving({"/search": json_of({}, 429, {"Retry-After": header})}) as site:
        searching = Searching(site, tmp_path)
        assert "too long" in failure(searching)
    assert (len(site.visits), searching.waits) == (1, [])


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_attempts_are_bounded(tmp_path: Path, status: int) -> None:
    with serving({"/search": json_of({"detail": {"error": "out of order"}}, status)}) as site:
        searching = Searching(site, tmp_path)
        message = failure(searching)
    assert message == f"web_search: tavily at 127.0.0.1: answered {status} (out of order), in 3 attempts"
    assert (len(site.visits), searching.waits) == (3, [0.5, 1.0])


@pytest.mark.parametrize(
    ("served", "why"),
    [
        (json_of({"detail": "no such plan"}, 432), "answered 432 (no such plan)"),
        (json_of({}, 404), "answered 404"),
        (Served(b"<html>", kind="text/html"), "is not JSON"),
        (Served(b"[" * 100_000), "is not JSON"),
        (json_of([1]), "a JSON list, not an object"),
        (Served(b"x" * 5_000_000), "cannot read the response: larger than"),
        (Served(b"{}", claims=99), "cannot read the response: it is not valid HTTP"),
    ],
)
def test_an_invalid_response_is_an_error_without_another_attempt(
    tmp_path: Path, served: Served, why: str
) -> None:
    with serving({"/search": served}) as site:
        assert why in failure(Searching(site, tmp_path))
    assert len(site.visits) == 1


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_names_its_variable(tmp_path: Path, status: int) -> None:
    with serving({"/search": json_of({"detail": f"bad key {KEY}"}, status)}) as site:
        assert "check TAVILY_API_KEY" in failure(Searching(site, tmp_path), kind=ConfigError)


def test_a_missing_provider_is_reported(tmp_path: Path) -> None:
    with serving({}) as site:
        searching = Searching(site, tmp_path)
        tool = searching.tool()
    with pytest.raises(ToolError, match=r"cannot be reached .*, in 3 attempts"):
        search(tool, "owls")


def test_a_silent_provider_is_given_up(tmp_path: Path) -> None:
    with serving({"/search": Served(b"{}", pause_s=5.0)}) as site:
        tool = Searching(site, tmp_path).tool()
        hasty = replace(tool.client, limits=replace(tool.client.limits, seconds=0.2))
        with pytest.raises(ToolError, match=r"no response within 0\.2 s"):
            search(replace(tool, client=hasty), "owls")


def test_a_proxy_of_the_environment_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving({"http://gateway.example.com/search": json_of(OWLS)}) as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("no_proxy", "")
        environ = {**Searching(proxy, tmp_path).environ, "TAVILY_BASE_URL": "http://gateway.example.com"}
        assert len(search(web_tool("tavily", environ=environ), "owls").data["hits"]) == 2
    assert proxy.visits[0].headers["host"] == "gateway.example.com"


def test_an_empty_query_is_a_tool_error(tmp_path: Path) -> None:
    with serving({}) as site:
        assert "the query is empty" in failure(Searching(site, tmp_path), " \n ")
