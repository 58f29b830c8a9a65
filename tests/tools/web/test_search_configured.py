"""How web_search is configured: provider, key, address, settings; and what it says of wrong ones."""

from __future__ import annotations

import pytest

from pyvision.errors import ConfigError
from pyvision.solve import prepare
from pyvision.tools.registry import build_tools
from pyvision.tools.web import WebSearch, web_tool
from pyvision.tools.web.providers import PROVIDERS, ProviderClient
from tests.tools.web.searching import KEY


def test_the_error_without_a_provider_says_how_to_choose_one() -> None:
    with pytest.raises(
        ConfigError, match=r"is off; choose one: --tool web_search=PROVIDER.*ddgs, tavily, serpapi"
    ):
        web_tool("")


def test_an_unknown_provider_is_refused() -> None:
    with pytest.raises(ConfigError, match="has no provider 'altavista'"):
        web_tool("altavista")


@pytest.mark.parametrize("provider", ["tavily", "serpapi"])
def test_without_a_key_it_names_the_variable(provider: str) -> None:
    variable = PROVIDERS[provider].key_variable
    with pytest.raises(ConfigError, match=f"set {variable}, or choose ddgs"):
        web_tool(provider, environ={variable: " "})


@pytest.mark.parametrize(
    "where", ["fast", "pages", "pages=", "pages=-1", "pages=x", "results=99", "only-cache=1", "a,b"]
)
def test_an_unknown_setting_is_named(where: str) -> None:
    with pytest.raises(ConfigError, match="; valid are only-cache, results=N and pages=N"):
        web_tool("ddgs", where)


@pytest.mark.parametrize(
    "address", ["ftp://x", "tavily", "http://", "http://x:y/", "http://x:0/", "http://ü.example/"]
)
def test_an_invalid_address_is_named_without_its_password(address: str) -> None:
    with pytest.raises(ConfigError, match="TAVILY_BASE_URL is"):
        web_tool("tavily", environ={"TAVILY_API_KEY": KEY, "TAVILY_BASE_URL": address})


def test_a_service_does_not_show_its_key() -> None:
    assert KEY not in repr(ProviderClient("tavily", "https://a", KEY, "TAVILY_API_KEY"))


def test_the_table_of_tools_builds_it_with_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TAVILY_API_KEY", raising=False)
    names = ("web_search",)
    assert build_tools(names, {}, is_offline=False) == {}
    tool = build_tools(names, {"web_search": "tavily:only-cache"}, is_offline=False)["web_search"]
    assert isinstance(tool, WebSearch)
    assert tool.settings.only_cache
    with pytest.raises(ConfigError, match="set TAVILY_API_KEY"):
        build_tools(names, {"web_search": "tavily"}, is_offline=False)


def test_a_run_blots_out_the_key_wherever_it_turns_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", "tvly-secret-1")
    task = prepare("Who?", strategy="avis", model="offline", tools={"web_search": "tavily"})
    assert "tvly-secret-1" in task.secrets
    assert "tvly-secret-1" not in repr(task)
