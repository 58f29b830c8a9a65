"""Networks of random weights go the whole way through the library; what they say has the right form."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

from pyvision.errors import ConfigError, ToolError
from pyvision.tools.perception import hugging_face
from pyvision.tools.perception.hugging_face import inverse
from pyvision.types import Observation, Tool, ToolRequest
from tests.tools.perception.pictures import nobody, two_circles_and_a_square

PICTURE = two_circles_and_a_square()


def use(tool: Tool, text: str = "", **options: Any) -> Observation:
    return tool(ToolRequest(text, PICTURE, options), nobody)


def test_distance_is_the_inverse_of_nearness() -> None:
    assert inverse(numpy.array([[4.0, 2.0]])).tolist() == [[0.25, 0.5]]


def test_distance_is_at_most_a_hundred_times_the_nearest() -> None:
    assert inverse(numpy.array([[4.0, 0.0, -1.0]])).tolist() == [[0.25, 25.0, 25.0]]


def test_a_network_that_sees_nothing_near_predicts_no_depth() -> None:
    with pytest.raises(ToolError, match="predicts no depth"):
        inverse(numpy.zeros((2, 2)))


@pytest.mark.vision
@pytest.mark.parametrize(
    ("kind", "build", "question"),
    [
        ("talker", hugging_face.caption, ""),
        ("talker", hugging_face.vqa, "what colour is this"),
        ("captioner", hugging_face.caption, ""),
    ],
)
def test_a_network_that_writes_gives_an_answer(
    tmp_path: Path, kind: str, build: Callable[[str], Tool], question: str
) -> None:
    from tests.tools.perception import tiny_networks

    assert use(build(getattr(tiny_networks, kind)(tmp_path)), question).text


@pytest.mark.vision
def test_a_network_that_chooses_gives_one_of_its_answers(tmp_path: Path) -> None:
    from tests.tools.perception import tiny_networks

    tool = hugging_face.vqa(tiny_networks.chooser(tmp_path))
    assert use(tool, "what colour is this").text in ("yes", "no")


@pytest.mark.vision
def test_the_ratio_of_two_scores_does_not_hang_on_the_other_texts(tmp_path: Path) -> None:
    from tests.tools.perception import tiny_networks

    compare = hugging_face.match(tiny_networks.matcher(tmp_path))
    one, two = use(compare, texts=["red", "circle"]).data["scores"]
    three, four, _ = use(compare, texts=["red", "circle", "a photo of a triangle"]).data["scores"]
    assert three / four == pytest.approx(one / two, rel=1e-3)
    (alone,) = use(compare, texts=["red"]).data["scores"]
    assert 0 < alone < 1


@pytest.mark.vision
def test_the_same_text_twice_has_the_same_score(tmp_path: Path) -> None:
    from tests.tools.perception import tiny_networks

    first, second = use(hugging_face.match(tiny_networks.matcher(tmp_path)), texts=["red", "red"]).data[
        "scores"
    ]
    assert first == second


@pytest.mark.vision
def test_a_folder_without_a_model_is_an_error_of_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=rf"--tool depth=hf:{tmp_path}: cannot be loaded: ") as caught:
        use(hugging_face.depth(str(tmp_path)))
    assert "\n" not in str(caught.value)


@pytest.mark.vision
def test_a_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    from tests.tools.perception import tiny_networks

    with pytest.raises(ConfigError, match="cannot be loaded"):
        use(hugging_face.detect(tiny_networks.estimator(tmp_path)), "cat")
