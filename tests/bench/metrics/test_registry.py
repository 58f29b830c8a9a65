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
    "textvqa": (sample(["dog"] * 10), "dog"),
    "anls": (sample("dog"), "dog"),
    "docvqa": (sample("dog"), "dog"),
    "relaxed": (sample("dog"), "dog"),
    "chartqa": (sample("dog"), "dog"),
    "chartqapro": (sample("dog"), "dog"),
    "charxiv": (sample("dog"), "dog"),
}
EVERY = [(name, flavour) for name, flavours in METRICS.items() for flavour in flavours]


def suitable(name: str) -> tuple[Sample, str]:
    return SUITABLE.get(
        name.partition("_")[0] if name.startswith("box") else name, (sample("B", "cat", "dog"), "B")
    )


@pytest.mark.parametrize(("name", "flavour"), EVERY)
def test_every_metric_gives_one_to_a_right_answer(name: str, flavour: str) -> None:
    of, answer = suitable(name)
    assert find_metric(name, flavour)(answer, of).value == 1


@pytest.mark.parametrize(("name", "flavour"), EVERY)
def test_every_metric_gives_zero_to_an_empty_answer(name: str, flavour: str) -> None:
    metric, (of, _) = find_metric(name, flavour), suitable(name)
    for blank in ("", " ", "\n"):
        assert (metric(blank, of).value, metric(blank, of).parsed) == (0, None)


# Each was scored as right by some metric. Where a published script credits one as a free answer, it is in `LENIENT`.
REFUSALS = [
    "A definitive answer cannot be given.",
    "A. clear answer is not possible",
    "A clear answer is not possible.",
    "I do not know which option is the right one here.",
    "I cannot answer this.",
    "I'm sorry, but I can't help with that.",
    "Not A clue.",
    "There is no way to tell.",
    "No image was provided, so I cannot say.",
    "No one could tell how many there are.",
    "I cannot say which one.",
    "I don't know",
    "Without a picture I am unable to choose an option",
    "Sorry! I can't see A or B.",
    "It is impossible to determine an answer from the image.",
]
LENIENT = {("infoseek", "as-published"), ("mmmu", "as-published")}
TARGETS: dict[str, list[Sample]] = {
    "blind": [
        sample(1, task="nested squares"),
        sample("no", task="touching"),
        sample("a", task="circled letter"),
    ],
    "yes_no": [sample("no"), sample("yes")],
    "nlvr": [sample("no"), sample("yes")],
    "integer": [sample(0), sample(1)],
    "tallyqa": [sample(0), sample(1)],
    "infoseek": [sample([0, 5], question_type="Numerical"), sample(["no"])],
    "mmmu": [sample("A", "A", "B"), sample("B", "yes", "no"), sample("an"), sample("1")],
    "mathvista": [sample("A", "A", "B"), sample("no", "yes", "no"), sample("1", answer_type="integer")],
}
CHOICES = [
    sample("A", "A", "B", "C", "D", "E"),
    sample("A", "red", "blue"),
    sample("no", "yes", "no"),
    sample("B", "1", "one"),
    sample("B", "yes", "no"),
    sample("I", *"ABCDEFGHIJ"),
    sample("A", "I", "II", "III"),
]
CHOICE = ("choice", "visualpuzzles", "circular", "scienceqa", "mathvision", "mmmu", "mathvista")
FREE = [sample(text) for text in ("no", "an", "a", "A", "one", "1", "0", "None")]


def refused(name: str) -> list[Sample]:
    if name in CHOICE[:-2]:
        return CHOICES
    if name in {"vqa", "textvqa"}:
        return [sample([str(each.target)] * 9 + ["x"]) for each in FREE]
    if name == "charxiv":
        return [sample("no", template=11), sample("1", template=10), sample("a", template=1)]
    return TARGETS.get(name, FREE)


@pytest.mark.parametrize(
    ("name", "flavour"),
    [
        each
        for each in EVERY
        if not each[0].startswith("box") and each not in LENIENT and each[1] != "vlmevalkit"
    ],
)
def test_a_refusal_earns_nothing(name: str, flavour: str) -> None:
    metric = find_metric(name, flavour)
    for of in refused(name):
        assert [answer for answer in REFUSALS if metric(answer, of).value] == []


@pytest.mark.parametrize(("name", "flavour"), [each for each in EVERY if each[0] in CHOICE])
def test_a_refusal_names_no_option_in_any_flavour(name: str, flavour: str) -> None:
    metric = find_metric(name, flavour)
    for of in CHOICES:
        assert [answer for answer in REFUSALS if metric(answer, of).value] == []


PROSE = "The image shows a bird above an old bridge, beside a few people, and I see a dog."


@pytest.mark.parametrize(("name", "flavour"), [each for each in EVERY if each[0] in CHOICE[:-1]])
@pytest.mark.parametrize("letter", "ABCDE")
def test_prose_does_not_name_an_option_whose_text_is_a_letter(name: str, flavour: str, letter: str) -> None:
    assert find_metric(name, flavour)(PROSE, sample(letter, *"ABCDE")).value == 0


@pytest.mark.parametrize(("name", "flavour"), [each for each in EVERY if each[0] in CHOICE])
def test_an_option_that_declines_can_be_chosen(name: str, flavour: str) -> None:
    metric, of = find_metric(name, flavour), sample("B", "a cat", "It cannot be determined")
    said = "It cannot be determined"
    forms = (said, f"B. {said}", f"B\n{said}", f"{said} from this image alone")
    assert max(metric(form, of).value or 0 for form in forms) == 1


@pytest.mark.parametrize("name", METRICS)
def test_no_default_credits_a_reply_that_names_no_answer(name: str) -> None:
    assert (name, flavours_of(name)[0]) not in LENIENT
    assert flavours_of(name)[0] != "as-published"


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
