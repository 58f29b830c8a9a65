"""The table of metrics: names, flavours and defaults; and what holds for every one of them."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.metrics import METRICS, find_metric
from pyvision.bench.metrics.registry import flavours_of
from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError
from tests.bench.metrics.samples import sample

# A sample that each metric can score, and an answer that is right.
SUITABLE: dict[str, tuple[Sample, str]] = {
    "blind": (sample(3, task="nested squares"), "{3}"),
    "yes_no": (sample("yes"), "yes"),
    "nlvr": (sample("True"), "True"),
    "integer": (sample(3), "3"),
    "tallyqa": (sample(3), "3"),
    "box": (sample([1, 2, 3, 4], height=6), "[1, 2, 3, 4]"),
    "text": (sample("dog"), "dog"),
    "gqa": (sample("dog"), "dog"),
    "covr": (sample("dog"), "dog"),
    "vqa": (sample(["dog"] * 10), "dog"),
    "infoseek": (sample(["dog"]), "dog"),
}
EVERY = [(name, flavour) for name, flavours in METRICS.items() for flavour in flavours]


def suitable(name: str) -> tuple[Sample, str]:
    return SUITABLE.get(
        name.partition("_")[0] if name.startswith("box") else name, (sample("B", "cat", "dog"), "B")
    )


@pytest.mark.parametrize(("name", "flavour"), EVERY)
def test_every_metric_gives_one_to_a_right_answer_and_zero_to_an_empty_one(name: str, flavour: str) -> None:
    of, answer = suitable(name)
    metric = find_metric(name, flavour)
    assert metric(answer, of).value == 1
    empty = metric("", of)
    assert empty.value == 0 or "guessed" in empty.why
    assert empty.parsed in (None, "None")


@pytest.mark.parametrize(("name", "flavour"), EVERY)
def test_a_score_of_zero_says_what_it_found_instead(name: str, flavour: str) -> None:
    of, _ = suitable(name)
    assert find_metric(name, flavour)("no such thing", of).why


@pytest.mark.parametrize("name", METRICS)
def test_the_first_flavour_is_the_default(name: str) -> None:
    assert find_metric(name) is find_metric(name, next(iter(METRICS[name])))


PATTERNS = [
    "1",
    "a",
    " ",
    "1,",
    "(1,",
    "{",
    "\\frac{",
    "yes ",
    "one ",
    "A ",
    "x1=1 ",
    "1.",
    "-",
    "12 ab ",
    "=",
    "$",
    "\n",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_very_long_answer_is_scored_by_every_metric(pattern: str) -> None:
    answer = pattern * (20_000 // len(pattern))
    for name, flavour in EVERY:
        assert find_metric(name, flavour)(answer, suitable(name)[0]).value is not None


@given(st.text(st.characters()), st.sampled_from(EVERY))
def test_no_text_makes_a_metric_raise(answer: str, metric: tuple[str, str]) -> None:
    found = find_metric(*metric)(answer, suitable(metric[0])[0])
    assert found.value is not None
    assert 0 <= found.value <= 1


def test_an_unknown_metric_is_named_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="unknown metric 'bleu'; known metrics are choice, "):
        find_metric("bleu")


def test_an_unknown_flavour_is_named_with_the_known_ones() -> None:
    with pytest.raises(
        ConfigError, match="metric 'vqa' has no flavour 'x'; its flavours are official, vlmevalkit, paper"
    ):
        find_metric("vqa", "x")


@pytest.mark.parametrize(
    "name", ["box_accuracy@", "box_accuracy@x", "box_accuracy@0", "box_accuracy@1.5", "box_accuracy@nan"]
)
def test_an_invalid_threshold_is_named(name: str) -> None:
    with pytest.raises(ConfigError, match=r"is not a threshold; .* as in box_accuracy@0\.5"):
        find_metric(name)


def test_a_threshold_of_ones_own_has_the_flavours_of_the_others() -> None:
    assert list(flavours_of("box_accuracy@0.6")) == list(METRICS["box_accuracy@0.5"])


def test_nothing_heavy_is_loaded_with_the_metrics() -> None:
    heavy = {"numpy", "PIL", "pydantic", "openai"}
    program = f"import sys, pyvision.bench.metrics; print(*sorted({heavy} & set(sys.modules)))"
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout
        == "\n"
    )
