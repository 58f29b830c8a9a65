"""Every provider of a perception tool keeps one contract: the same keys, boxes inside, scores from 0 to 1."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from shutil import which
from typing import Any, TypeAlias

import pytest

from pyvision.errors import ToolError
from pyvision.tools.registry import ROWS, build_tools
from pyvision.types import Observation, Picture, Tool, ToolRequest
from tests.tools.perception.pictures import Answering, photograph, two_circles_and_a_square, written

DRAWING, PHOTOGRAPH, TEXT = two_circles_and_a_square(), photograph(), written("EXIT HERE")
TINY: Picture = Picture(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
        "0000000c49444154789c63f8ffff3f0005fe02fe0def46b80000000049454e44ae426082"
    ),
    "image/png",
    1,
    1,
)
BROKEN = Picture(DRAWING.data[:60], "image/png", 240, 160)

MODEL = Answering(
    {
        "caption": "A drawing of two red circles.",
        "vqa": "red",
        "detect": '[{"box": [83, 125, 333, 500], "label": "red circle", "score": 0.9}, {"box": [-9, 0, 1010, 1000]}]',
        "match": "[90, 5]",
        "llm": "Paris",
    }
)
REQUESTS: Mapping[str, ToolRequest] = {
    "caption": ToolRequest(picture=DRAWING),
    "vqa": ToolRequest("What colour is this?", DRAWING),
    "llm_qa": ToolRequest("What is the capital of France?"),
    "detect": ToolRequest("red circle", DRAWING),
    "match": ToolRequest(picture=DRAWING, options={"texts": ["red circle", "green triangle"]}),
    "depth": ToolRequest(picture=DRAWING),
    "ocr": ToolRequest(picture=TEXT),
}
NETWORKS = {
    "caption": "talker",
    "vqa": "chooser",
    "detect": "detector",
    "match": "matcher",
    "depth": "estimator",
}
Make: TypeAlias = Callable[[str, str], Tool]


def cases() -> list[Any]:
    """(tool, provider); those that need a network or an engine carry the reason to leave them out."""
    marks = {
        "hf": (pytest.mark.vision,),
        "rapidocr": (pytest.mark.vision,),
        "tesseract": (pytest.mark.skipif(which("tesseract") is None, reason="no tesseract on this machine"),),
    }
    return [
        pytest.param(tool, provider, id=f"{tool}-{provider}", marks=marks.get(provider, ()))
        for tool in REQUESTS
        for provider in ROWS[tool].providers
        if (tool, provider) != ("llm_qa", "offline")  # which declines everything, by design
    ]


@pytest.fixture(scope="session")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Builds the tool of a provider; a provider of networks gets one with random weights."""

    def network(kind: str) -> str:
        if kind not in made:
            from tests.tools.perception import tiny_networks

            folder: Path = tmp_path_factory.mktemp(kind)
            made[kind] = getattr(tiny_networks, kind)(folder)
        return made[kind]

    def build_tool(tool: str, provider: str) -> Tool:
        if provider in ("hf", "rapidocr"):
            needed = "transformers" if provider == "hf" else "rapidocr"
            if importlib.util.find_spec(needed) is None:
                pytest.skip(f"{needed} is not installed; make test-vision installs it")
        choice = f"hf:{network(NETWORKS[tool])}" if provider == "hf" else provider
        return build_tools((tool,), {tool: choice}, is_offline=False)[tool]

    made: dict[str, str] = {}
    return build_tool


def has_box_form(item: Mapping[str, Any], picture: Picture) -> bool:
    return bool(
        all(isinstance(item[edge], float) for edge in ("left", "top", "right", "bottom", "score"))
        and 0 <= item["left"] <= item["right"] <= picture.width
        and 0 <= item["top"] <= item["bottom"] <= picture.height
        and 0 <= item["score"] <= 1
    )


def keeps_the_contract(tool: str, data: Any, request: ToolRequest) -> bool:
    picture = request.picture
    match tool, data:
        case "caption", {"caption": str(text)}:
            return bool(text)
        case (("vqa" | "llm_qa"), {"answer": str(text)}):
            return bool(text)
        case "detect", {"boxes": list(boxes)} if picture:
            keys = {"left", "top", "right", "bottom", "score", "label"}
            return all(
                set(b) == keys
                and b["left"] < b["right"]
                and b["top"] < b["bottom"]
                and has_box_form(b, picture)
                for b in boxes
            )
        case "match", {"scores": list(scores)}:
            return len(scores) == len(request.options["texts"]) and all(0 <= score <= 1 for score in scores)
        case "depth", {"depth": list(rows), "width": int(width), "height": int(height)}:
            return len(rows) == height <= 64 and all(len(row) == width <= 64 for row in rows)
        case "ocr", {"lines": list(lines)} if picture:
            keys = {"left", "top", "right", "bottom", "score", "text"}
            return all(set(line) == keys and has_box_form(line, picture) for line in lines)
    return False


def use(tool: Tool, request: ToolRequest) -> Observation:
    return tool(request, MODEL)


def with_picture(tool: str, picture: Picture) -> ToolRequest:
    return ToolRequest(REQUESTS[tool].text, picture, REQUESTS[tool].options)


@pytest.mark.parametrize(("tool", "provider"), cases())
def test_the_data_has_the_form_of_its_tool(make: Make, tool: str, provider: str) -> None:
    observation = use(make(tool, provider), REQUESTS[tool])
    assert keeps_the_contract(tool, observation.data, REQUESTS[tool])
    assert (
        json.loads(json.dumps(observation.data)) == observation.data
    )  # plain values, as they go into a cell
    assert observation.text
    assert observation.error is None


@pytest.mark.parametrize(("tool", "provider"), cases())
@pytest.mark.parametrize("picture", [TINY, PHOTOGRAPH], ids=["one pixel", "photograph"])
def test_any_image_gives_the_same_form_or_a_tool_error(
    make: Make, tool: str, provider: str, picture: Picture
) -> None:
    request = with_picture(tool, picture)
    try:
        observation = use(make(tool, provider), request)
    except ToolError:
        return
    assert keeps_the_contract(tool, observation.data, request)


each_tool_for_images = pytest.mark.parametrize(
    ("tool", "provider"), [case for case in cases() if case.values[0] != "llm_qa"]
)


@each_tool_for_images
def test_a_broken_image_is_a_tool_error(make: Make, tool: str, provider: str) -> None:
    if provider != "model":  # which sends a small picture on as it is: its endpoint complains
        with pytest.raises(ToolError):
            use(make(tool, provider), with_picture(tool, BROKEN))


@each_tool_for_images
def test_a_request_without_an_image_is_a_tool_error(make: Make, tool: str, provider: str) -> None:
    with pytest.raises(ToolError, match=f"{tool}: the request has no image; give one"):
        use(make(tool, provider), ToolRequest(REQUESTS[tool].text, options=REQUESTS[tool].options))


@pytest.mark.parametrize(
    ("tool", "provider"), [case for case in cases() if case.values[0] in ("vqa", "llm_qa")]
)
def test_an_empty_question_is_a_tool_error(make: Make, tool: str, provider: str) -> None:
    with pytest.raises(ToolError, match=f"{tool}: the request has no text"):
        use(make(tool, provider), ToolRequest("  ", DRAWING))


@pytest.mark.parametrize(("tool", "provider"), [case for case in cases() if case.values[0] == "match"])
@pytest.mark.parametrize("texts", [None, [], "red", [1], ["x"] * 1001], ids=str)
def test_invalid_texts_are_a_tool_error(make: Make, tool: str, provider: str, texts: Any) -> None:
    with pytest.raises(ToolError, match=r"^match: .*texts"):
        use(make(tool, provider), ToolRequest(picture=DRAWING, options={"texts": texts}))


@pytest.mark.parametrize(("tool", "provider"), cases())
def test_threads_at_once_get_what_one_gets_alone(make: Make, tool: str, provider: str) -> None:
    service = make(tool, provider)
    with ThreadPoolExecutor(4) as pool:
        observations = list(pool.map(partial(use, service), [REQUESTS[tool]] * 4))
    assert {repr(observation) for observation in observations} == {repr(use(service, REQUESTS[tool]))}
