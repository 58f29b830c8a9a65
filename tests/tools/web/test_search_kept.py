"""What web_search keeps of its answers: asked once, replayed without a key, and never a key on disk."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from pyvision.tools.web import web_tool
from tests.tools.web.searching import GOOGLE, KEY, OWLS, Searching, failure, json_of, search
from tests.tools.web.site import serving


def test_a_search_is_sent_once(tmp_path: Path) -> None:
    with serving({"/search": json_of(OWLS)}) as site:
        first = Searching(site, tmp_path)()
        assert Searching(site, tmp_path)() == first
        assert len(site.visits) == 1


def test_a_search_is_replayed_without_a_key(tmp_path: Path) -> None:
    with serving({"/search": json_of(OWLS)}) as site:
        first = Searching(site, tmp_path)()
    replayed = web_tool("tavily", "only-cache", environ={"PYVISION_CACHE": str(tmp_path)})
    assert search(replayed, "when  do owls hunt ") == first


def test_only_cache_sends_no_request(tmp_path: Path) -> None:
    with serving({"/search": json_of(OWLS)}) as site:
        assert "only-cache sends no request" in failure(Searching(site, tmp_path, where="only-cache"))
    assert site.visits == []


def test_other_settings_are_another_request(tmp_path: Path) -> None:
    with serving({"/search": json_of(OWLS)}) as site:
        Searching(site, tmp_path)()
        Searching(site, tmp_path, where="results=1")()
    assert [json.loads(visit.body)["max_results"] for visit in site.visits] == [5, 1]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"format": 1, "request": {}, "answer": 3}'])
def test_a_broken_file_of_the_cache_is_asked_again(tmp_path: Path, content: bytes) -> None:
    with serving({"/search": json_of(OWLS)}) as site:
        Searching(site, tmp_path)()
        (file,) = tmp_path.rglob("*.json")
        file.write_bytes(content)
        Searching(site, tmp_path)()
        assert len(site.visits) == 2


def test_a_cache_that_cannot_be_written_costs_only_the_replay(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "web").write_text("a file where the folder should be")
    with serving({"/search": json_of(OWLS)}) as site:
        assert len(Searching(site, tmp_path)().data["hits"]) == 2
    assert "cannot write" in caplog.text


def test_a_failure_is_not_kept(tmp_path: Path) -> None:
    with serving({"/search": [json_of({}, 400), json_of(OWLS)]}) as site:
        failure(Searching(site, tmp_path), "when do owls hunt")
        assert len(Searching(site, tmp_path)().data["hits"]) == 2


@pytest.mark.parametrize("provider", ["tavily", "serpapi"])
def test_the_key_is_nowhere_but_in_the_request(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, provider: str
) -> None:
    caplog.set_level(logging.DEBUG)
    echo = json_of({"error": f"bad key {KEY}"}, 400)
    with serving({"/search": [json_of(OWLS), echo], "/search.json": [json_of(GOOGLE), echo]}) as site:
        searching = Searching(site, tmp_path, provider)
        observation = searching("owls")
        failure(searching, "another")
    seen = [repr(observation), caplog.text, repr(searching.tool())]
    seen += [file.read_text() for file in tmp_path.rglob("*") if file.is_file()]
    assert len(seen) == 4
    assert all("very-secret" not in text for text in seen)
