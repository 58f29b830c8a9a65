"""The truth of generated samples, found again from the pixels of their files."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import hypot
from typing import Any

import numpy as np
import pytest

from pyvision.bench.samples import Sample
from pyvision.bench.synthetic import generate
from pyvision.bench.synthetic.geometry import areas, near
from pyvision.bench.synthetic.registry import draw_scene
from pyvision.bench.synthetic.scene import BLACK, INKS, WHITE
from tests.bench.synthetic.pictures import SEED, few, grown, open_images, read


@pytest.mark.parametrize("difficulty", [0.0, 1.0])
@few(4, all_of=10)
def test_lines_meet_where_their_colours_do(difficulty: float, count: int) -> None:
    for sample, pixels in read("lines", count, difficulty):
        one, other = (grown(near(pixels, INKS[name], 60), 4) for name in sample.metadata["truth"]["colours"])
        assert len(areas(grown(one & other, 3))) == sample.target, sample.id


@pytest.mark.parametrize("difficulty", [0.0, 1.0])
@few(4, all_of=10)
def test_discs_without_contact_are_two_areas(difficulty: float, count: int) -> None:
    for sample, pixels in read("discs", count, difficulty):
        count = len(areas(~near(pixels, WHITE, 55)))
        assert count == (1 if sample.target == "Yes" else 2), sample.id


@few(8, all_of=30)
def test_as_many_letters_stand_before_the_oval_as_the_truth_says(count: int) -> None:
    for sample, pixels in read("letter", count):
        truth = sample.metadata["truth"]
        left, _, right, _ = max(areas(near(pixels, INKS["red"], 60)), key=lambda area: area.pixels).box
        inked = near(pixels, BLACK, 120).any(axis=0).astype(int)
        starts = np.nonzero(np.diff(inked, prepend=0) == 1)[0]
        ends = np.nonzero(np.diff(inked, append=0) == -1)[0]
        middles = (starts + ends) / 2
        assert len(middles) == len(truth["word"]), sample.id
        assert int((middles < (left + right) / 2 - 4).sum()) == truth["place"], sample.id
        assert sample.target == truth["word"][truth["place"]]


def distances_to_circles() -> Iterator[tuple[str, list[np.ndarray[Any, np.dtype[np.float64]]]]]:
    """For samples with circles: the distance in pixels of all ink from the line of each circle of the truth."""
    for sample, pixels in read("rings", 8):
        truth = sample.metadata["truth"]
        if truth["shape"] == "circle":
            y, x = np.nonzero(~near(pixels, WHITE, 90))
            yield (
                sample.id,
                [
                    np.abs(np.hypot(x + 0.5 - cx, y + 0.5 - cy) - truth["radius"])
                    for cx, cy in truth["centres"]
                ],
            )


def test_the_truth_has_as_many_rings_as_the_target() -> None:
    for sample, _ in read("rings", 8):
        assert len(sample.metadata["truth"]["centres"]) == sample.target


def test_every_circle_of_the_truth_is_drawn() -> None:
    for name, distances in distances_to_circles():
        for away in distances:
            assert (away < 2).sum() > 100, name


def test_no_ink_is_beside_the_circles_of_the_truth() -> None:
    for name, distances in distances_to_circles():
        assert np.min(distances, axis=0).max() < 4, name


@few(4, all_of=12)
def test_nested_squares_are_as_many_separate_outlines(count: int) -> None:
    for sample, pixels in read("squares", count):
        assert len(areas(~near(pixels, WHITE, 40))) == sample.target, sample.id


@few(6, all_of=15)
def test_an_empty_table_has_as_many_fields_as_rows_times_columns(count: int) -> None:
    for sample, pixels in read("grids", count):
        truth = sample.metadata["truth"]
        assert sample.target == f"({truth['rows']}, {truth['columns']})"
        if not truth["filled"]:
            assert len(areas(near(pixels, WHITE, 60))) == truth["rows"] * truth["columns"] + 1, sample.id


@pytest.mark.parametrize("difficulty", [0.0, 1.0])
@few(2, all_of=6)
def test_as_many_colours_reach_both_stations_as_the_target_says(difficulty: float, count: int) -> None:
    for sample, pixels in read("paths", count, difficulty):
        words = sample.text.split()
        stations = words[words.index("from") + 1], words[words.index("to") + 1].rstrip("?")
        ends = [set(path["ends"]) for path in sample.metadata["truth"]["paths"]]
        assert sum(each == set(stations) for each in ends) == sample.target
        for path in sample.metadata["truth"]["paths"]:
            y, x = np.nonzero(near(pixels, INKS[path["colour"]], 20))
            reached = [y.min() < 90, x.max() > pixels.shape[1] - 90, y.max() > len(pixels) - 90, x.min() < 90]
            assert sum(map(bool, reached)) == 2, sample.id


@pytest.fixture(scope="module")
def needles() -> dict[str, list[tuple[Sample, np.ndarray[Any, np.dtype[np.uint8]]]]]:
    """Easy samples of each kind with their pixels."""
    found: dict[str, list[tuple[Sample, np.ndarray[Any, np.dtype[np.uint8]]]]] = {}
    for sample, pixels in read("needle", 12, 0.0):
        found.setdefault(sample.category.removeprefix("needle/"), []).append((sample, pixels))
    return found


def test_needles_are_of_four_kinds(needles: dict[str, Any]) -> None:
    assert needles.keys() == {"colour", "shape", "word", "position"}


def test_a_shape_is_the_only_area_of_its_colour(needles: dict[str, Any]) -> None:
    for sample, pixels in needles["shape"]:
        left, top, _, _ = sample.metadata["box"]
        ink = INKS[sample.text.split(" only ")[1].split()[0]]
        (found,) = areas(near(pixels, ink, 45), least=40)
        assert hypot(found.box[0] - left, found.box[1] - top) < 14, sample.id


def test_a_word_is_written_in_its_box_alone(needles: dict[str, Any]) -> None:
    for sample, pixels in needles["word"]:
        inked = near(pixels, (250, 226, 60), 40)
        left, top, right, bottom = sample.metadata["box"]
        assert inked.sum() == inked[top:bottom, left:right].sum() > 300, sample.id


def test_the_target_is_the_colour_that_fills_the_box(needles: dict[str, Any]) -> None:
    for sample, pixels in needles["colour"]:
        left, top, right, bottom = sample.metadata["box"]
        inside = pixels[top:bottom, left:right]
        visible = max(INKS, key=lambda name: int(near(inside, INKS[name], 40).sum()))
        assert sample.choices["ABCD".index(sample.target)] == visible, sample.id


def test_a_huge_scene_has_the_megapixels_that_were_promised() -> None:
    width, height = draw_scene("needle", SEED, 1.0, 0).truth["size"]
    assert width * height == pytest.approx(100e6, rel=0.02)


def test_bars_are_as_high_as_their_values() -> None:
    seen = 0
    for sample, pixels in read("charts", 14, 0.0):
        if not sample.category.startswith("charts/bar"):
            continue
        (values,) = sample.metadata["truth"]["values"]
        ink = next(name for name in INKS if near(pixels, INKS[name], 20).sum() > 2000)
        bars = sorted(areas(near(pixels, INKS[ink], 40), least=100), key=lambda area: area.box[0])
        heights = [area.box[3] - area.box[1] for area in bars]
        assert len(bars) == len(values)
        per_unit = 450 / 20  # the axis is 450 pixels high and ends at 20 at this difficulty
        assert [round(height / per_unit) for height in heights] == values, sample.id
        seen += 1
    assert seen >= 3


@few(6, all_of=15)
def test_the_answer_about_a_chart_follows_from_its_values(count: int) -> None:
    for sample in generate("charts", count, SEED, 0.5):
        truth = sample.metadata["truth"]
        every = [value for row in truth["values"] for value in row]
        if sample.category.endswith("largest"):
            column = truth["categories"].index(sample.target)
            assert any(row[column] == max(row) and row.count(max(row)) == 1 for row in truth["values"])
        elif sample.category.endswith("value"):
            assert sample.target in every
        else:
            assert 0 < sample.target < max(every)


def test_the_slices_of_a_pie_make_a_hundred() -> None:
    pies = [s for s in generate("charts", 12, SEED, 0.0) if s.category.startswith("charts/pie")]
    assert pies
    assert all(sum(pie.metadata["truth"]["values"][0]) == 100 for pie in pies)


@cache
def pairs() -> tuple[Sample, ...]:
    return tuple(generate("difference", 10, SEED, 0.5))


def test_the_two_images_differ_in_as_many_places() -> None:
    for sample in pairs():
        one, other = (np.asarray(picture).astype(int) for picture in open_images(sample))
        count = len(areas(grown((one != other).any(axis=2), 2)))
        assert count == (1 if sample.choices else sample.target), sample.id


def test_only_one_choice_is_missing_in_the_second_image() -> None:
    asked = [sample for sample in pairs() if sample.choices]
    assert asked
    for sample in asked:
        missing = sample.metadata["truth"]["missing"]
        right = sample.choices["ABCD".index(sample.target)]
        assert right == f"the {missing['colour']} {missing['shape']}"
        assert len(set(sample.choices)) == 4


@pytest.mark.parametrize("difficulty", [0.0, 1.0])
@few(2, all_of=5)
def test_every_object_of_the_truth_shows_its_colour_in_the_clutter(difficulty: float, count: int) -> None:
    for sample, pixels in read("clutter", count, difficulty):
        shapes = sample.metadata["truth"]["things"]
        words = sample.text.split()
        named = [f"{shape['colour']} {shape['shape']}" for shape in shapes]
        singular = {"circles": "circle", "triangles": "triangle", "squares": "square", "pentagons": "pentagon",
                    "stars": "star", "crosses": "cross"}  # fmt: skip
        assert named.count(f"{words[2]} {singular[words[3]]}") == sample.target, sample.id
        for shape in shapes:
            left, top, right, bottom = shape["box"]
            assert near(pixels[top:bottom, left:right], INKS[shape["colour"]], 60).mean() > 0.2, sample.id


@pytest.mark.parametrize("difficulty", [0.0, 1.0])
@few(2, all_of=6)
def test_the_box_of_a_described_object_holds_all_of_it(difficulty: float, count: int) -> None:
    for sample, pixels in read("boxes", count, difficulty):
        left, top, right, bottom = sample.target
        colour = next(word for word in sample.text.split() if word in INKS)
        ink = areas(near(pixels, INKS[colour], 40), least=20)
        middle = (left + right) / 2, (top + bottom) / 2
        (found,) = [a for a in ink if a.box[0] < middle[0] < a.box[2] and a.box[1] < middle[1] < a.box[3]]
        assert all(abs(a - b) <= 2 for a, b in zip(found.box, sample.target, strict=True)), sample.id
        assert sample.target == sample.metadata["box"]
