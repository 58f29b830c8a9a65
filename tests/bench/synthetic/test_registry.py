"""Every generated set: what its samples promise, whatever they show."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import islice
from statistics import mean
from typing import Any

import pytest

from pyvision.bench.metrics import find_metric
from pyvision.bench.samples import Sample
from pyvision.bench.synthetic import SETS, generate
from pyvision.bench.synthetic.registry import draw_scene
from pyvision.errors import ConfigError

QUICK = sorted(set(SETS) - {"needle"})
DIFFICULTIES = (0.0, 0.5, 1.0)

HARDER: dict[str, Callable[[dict[str, Any]], float]] = {
    "lines": lambda truth: len(truth["lines"][0]),
    "discs": lambda truth: -abs(truth["gap_px"]),
    "letter": lambda truth: len(truth["word"]),
    "rings": lambda truth: len(truth["centres"]),
    "squares": lambda truth: len(truth["centres_and_radii"]),
    "grids": lambda truth: truth["rows"] * truth["columns"],
    "paths": lambda truth: len(truth["paths"]),
    "needle": lambda truth: truth["size"][0] * truth["size"][1],
    "charts": lambda truth: sum(map(len, truth["values"])),
    "difference": lambda truth: truth["things"],
    "clutter": lambda truth: len(truth["things"]),
    "boxes": lambda truth: len(truth["things"]),
}


@cache
def easy(name: str) -> tuple[Sample, ...]:
    """Three easy samples, generated once for all tests that only read them."""
    return tuple(generate_samples(name, 3))


def generate_samples(name: str, count: int, seed: int = 7, difficulty: float = 0.0) -> list[Sample]:
    return list(generate(name, count, seed, difficulty))


@pytest.mark.parametrize("name", SETS)
def test_a_sample_depends_on_its_number_alone(name: str) -> None:
    assert generate_samples(name, 2) == list(easy(name)[:2])


def test_another_process_draws_the_same_bytes() -> None:
    code = (
        "import hashlib; from pyvision.bench.synthetic import generate, SETS\n"
        "print([hashlib.sha256(b''.join(next(generate(n, 1, 7, 0.0)).images)).hexdigest() for n in SETS])"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "4711"}
    other = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    here = [
        hashlib.sha256(b"".join(bytes(image) for image in easy(name)[0].images if isinstance(image, bytes)))
        for name in SETS
    ]
    assert other.stdout.strip() == str([found.hexdigest() for found in here])


@pytest.mark.parametrize("name", QUICK)
def test_another_seed_gives_another_sample(name: str) -> None:
    one, (other,) = easy(name)[0], generate_samples(name, 1, seed=8)
    assert one.images != other.images
    assert one.id != other.id


@pytest.mark.parametrize("name", QUICK)
def test_another_difficulty_gives_another_sample(name: str) -> None:
    one, (harder,) = easy(name)[0], generate_samples(name, 1, difficulty=0.25)
    assert one.images != harder.images
    assert one.id != harder.id


def test_an_id_says_how_to_generate_its_sample() -> None:
    assert [sample.id for sample in generate_samples("lines", 2, difficulty=0.5)] == [
        "lines-7-0.5-0",
        "lines-7-0.5-1",
    ]


def test_a_whole_number_is_the_same_difficulty_as_its_float() -> None:
    assert generate_samples("discs", 1, difficulty=1) == generate_samples("discs", 1, difficulty=1.0)


def test_minus_zero_is_the_same_difficulty_as_zero() -> None:
    assert generate_samples("discs", 1, difficulty=-0.0) == generate_samples("discs", 1, difficulty=0)


@pytest.mark.parametrize("name", SETS)
def test_no_id_comes_twice(name: str) -> None:
    ids = [sample.id for sample in (*easy(name), *generate_samples(name, 1, seed=70))]
    assert len(set(ids)) == 4


@pytest.mark.parametrize("name", SETS)
def test_metadata_survive_json(name: str) -> None:
    for sample in easy(name):
        assert json.loads(json.dumps(dict(sample.metadata))) == dict(sample.metadata)


@pytest.mark.parametrize("name", SETS)
def test_metadata_hold_all_that_is_needed_to_check_an_answer(name: str) -> None:
    for sample in easy(name):
        assert {"metric", "difficulty", "truth"} <= set(sample.metadata)
        assert sample.metadata["difficulty"] == 0.0


@pytest.mark.parametrize("name", SETS)
def test_a_category_begins_with_the_name_of_its_set(name: str) -> None:
    assert all(sample.category.startswith(f"{name}/") for sample in easy(name))


@pytest.mark.parametrize("name", SETS)
def test_the_target_is_right_by_the_metric_that_the_sample_names(name: str) -> None:
    for sample in easy(name):
        score = find_metric(sample.metadata["metric"])(str(sample.target), sample)
        assert score.value == 1.0, (sample.id, score)


@pytest.mark.parametrize("name", SETS)
def test_the_images_are_files_that_say_their_size(name: str) -> None:
    from pyvision.images.read import decode

    for image in easy(name)[0].images:
        assert isinstance(image, bytes)
        assert decode(image, name).width > 100


@pytest.mark.parametrize("name", SETS)
def test_samples_are_drawn_only_when_they_are_asked_for(name: str) -> None:
    endless = generate(name, 10**12, 7, 0.0)
    assert [sample.id for sample in islice(endless, 2)] == [f"{name}-7-0.0-0", f"{name}-7-0.0-1"]


_ANSWERS = (
    *(("lines", 60, 200, 0.0), ("discs", 20, 60, 1.0), ("letter", 20, 60, 0.0), ("grids", 20, 60, 0.0)),
    *(("paths", 10, 30, 0.0), ("needle", 10, 30, 0.0), ("rings", 10, 30, 0.0), ("squares", 8, 20, 0.0)),
    *(("charts", 8, 20, 0.0), ("difference", 8, 20, 0.0), ("clutter", 8, 20, 0.0)),
)


@pytest.mark.parametrize(
    ("name", "count", "difficulty"),
    [
        pytest.param(name, count, difficulty, marks=marks)
        for name, few, many, difficulty in _ANSWERS
        for count, marks in ((few, ()), (many, pytest.mark.slow))
    ],
)
def test_no_answer_dominates(name: str, count: int, difficulty: float) -> None:
    targets = Counter(str(draw_scene(name, 3, difficulty, index).target) for index in range(count))
    assert targets.most_common(1)[0][1] <= 0.6 * count


@pytest.mark.parametrize("name", SETS)
def test_difficulty_grows_with_its_parameter(name: str) -> None:
    count = 1 if name == "needle" else 3
    means = [
        mean(HARDER[name](dict(draw_scene(name, 5, difficulty, index).truth)) for index in range(count))
        for difficulty in ((0.0, 0.1, 0.2) if name == "needle" else DIFFICULTIES)
    ]
    assert means == sorted(set(means))


def test_questions_of_a_seed_stay_as_they_are() -> None:
    """Published figures name a seed: whoever changes a generator must see here that its samples change."""
    assert [draw_scene("lines", 7, 0.5, index).target for index in range(8)] == [3, 0, 1, 1, 3, 1, 3, 0]
    assert [draw_scene("grids", 7, 0.5, index).target for index in range(3)] == ["(4, 7)", "(8, 4)", "(4, 7)"]
    assert [draw_scene("paths", 7, 0.5, index).target for index in range(4)] == [0, 2, 3, 1]


def test_an_unknown_set_is_named_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"unknown set 'circles'; known sets are lines, discs"):
        generate("circles", 1, 1)


@pytest.mark.parametrize("difficulty", [-0.1, 1.1, float("nan")])
def test_a_difficulty_outside_of_its_range_is_refused_before_anything_is_drawn(difficulty: float) -> None:
    with pytest.raises(ConfigError, match=r"outside \[0, 1\]"):
        generate("lines", 1, 1, difficulty)


def test_a_count_below_zero_is_refused() -> None:
    with pytest.raises(ConfigError, match="count -1"):
        generate("lines", -1, 1)
