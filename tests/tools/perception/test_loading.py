"""Networks are loaded when they are needed, once, and used by one thread at a time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import pytest

from pyvision.errors import ConfigError
from pyvision.tools.perception.service import SharedModel, share_model
from pyvision.tools.registry import build_tools
from pyvision.types import ToolRequest
from tests.tools.perception.pictures import nobody, two_circles_and_a_square


def test_many_threads_load_a_model_once() -> None:
    loads: list[str] = []

    def load() -> str:
        loads.append("network")
        return loads[-1]

    model = SharedModel(load)

    def work(_: int) -> None:
        with model.acquire():
            pass

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(64)))
    assert loads == ["network"]


def test_threads_use_a_model_one_after_the_other() -> None:
    busy, model = Lock(), SharedModel(lambda: "network")

    def work(_: int) -> bool:
        with model.acquire():
            alone = busy.acquire(blocking=False)
            if alone:
                busy.release()
            return alone

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(64)))


def test_a_load_that_failed_is_tried_again() -> None:
    failures = [ConfigError("no such folder")]

    def load() -> str:
        if failures:
            raise failures.pop()
        return "network"

    model = SharedModel(load)
    with pytest.raises(ConfigError), model.acquire():
        pass
    with model.acquire() as network:
        assert network == "network"


def test_tools_that_are_built_again_share_what_is_loaded() -> None:
    assert share_model("a test", lambda: 1) is share_model("a test", lambda: 2)
    assert share_model("a test", lambda: 1) is not share_model("another test", lambda: 1)


@pytest.mark.parametrize("tool", ["caption", "vqa", "detect", "match", "depth"])
def test_the_first_use_of_a_missing_requirement_says_how_to_install_it(tool: str) -> None:
    built = build_tools((tool,), {tool: "hf"}, is_offline=False)[tool]
    request = ToolRequest("red?", two_circles_and_a_square(), {"texts": ["red"]})
    with pytest.raises(
        ConfigError, match=rf"pip install 'pyvision-agent\[vision\]'|--tool {tool}=hf names no model; give"
    ):
        built(request, nobody)
