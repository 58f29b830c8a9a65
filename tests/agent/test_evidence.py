from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.agent.evidence import (
    MOST_CITED,
    derive_evidence,
    find_evidence,
    trace_evidence,
    without_evidence,
)
from pyvision.types import Box, Evidence
from sandbox import Region

BOX = Evidence("image_clue_0", (120.0, 80.0, 310.0, 140.5))
ORIGINALS = {"image_clue_0": (400, 300)}
# A figure of 200 x 100 pixels that shows (50, 60) to (150, 110) of the original, twice as large.
CLOSER = Region("image_clue_0", (0, 0, 200, 100), (0.5, 0, 50, 0, 0.5, 60))
WHOLE = Region("image_clue_0", (0, 0, 400, 300), (1, 0, 0, 0, 1, 0))


@pytest.mark.parametrize(
    "cited",
    [
        "image_clue_0 [120, 80, 310, 140.5]",
        "- image_clue_0: (120, 80) to (310, 140.5), the sign",
        '{"image": "image_clue_0", "box": [120, 80, 310, 140.5], "confidence": 0.9}',
        "image 0 120,80,310,140.5",
        "Image_clue_0 x0=120 y0=80 x1=310 y1=140.5",
    ],
)
def test_a_region_is_read_in_the_forms_that_models_write(cited: str) -> None:
    assert find_evidence(f"<evidence>\n{cited}\n</evidence>\n<answer>\\boxed{{A}}</answer>") == (BOX,)


def test_several_boxes_may_follow_one_name() -> None:
    found = find_evidence("<evidence>image_clue_1 [1, 2, 3, 4], [5, 6, 7, 8]</evidence>")
    assert [each.box for each in found] == [(1, 2, 3, 4), (5, 6, 7, 8)]


def test_a_cell_is_cited_by_its_number() -> None:
    assert find_evidence("<evidence>cell 2\ncell_3</evidence>") == (Evidence("cell 2"), Evidence("cell 3"))


def test_a_name_without_a_box_stands_for_the_whole_image() -> None:
    assert find_evidence("<evidence>image_clue_4, the lower half</evidence>") == (Evidence("image_clue_4"),)


def test_a_tag_that_is_never_closed_is_read_to_its_end() -> None:
    assert find_evidence("A\n<evidence>image_clue_0 [120, 80, 310, 140.5]") == (BOX,)


def test_the_last_tag_counts() -> None:
    assert find_evidence("<evidence>cell 1</evidence> … <evidence>cell 2</evidence>") == (Evidence("cell 2"),)


def test_no_tag_is_no_evidence() -> None:
    assert find_evidence("image_clue_0 [1, 2, 3, 4]") == ()


def test_endless_citations_are_cut() -> None:
    text = "<evidence>" + "".join(f"cell {number} " for number in range(1, 500)) + "</evidence>"
    assert len(find_evidence(text)) == MOST_CITED


def test_the_rest_of_the_reply_stays_without_the_citations() -> None:
    assert without_evidence("It is B.<evidence>cell 1</evidence>\nSure.") == "It is B.\nSure."


@given(st.text(alphabet="<evidnc>/image_l [,]0123456789.-\n", max_size=300))
def test_no_citation_raises(text: str) -> None:
    found = find_evidence(f"<evidence>{text}")
    assert all(each.box is None or len(each.box) == 4 for each in found)


def trace(
    name: str, box: Box | None = None, figures: dict[str, tuple[Region, ...]] | None = None
) -> list[Evidence]:
    return list(trace_evidence([Evidence(name, box)], ORIGINALS, figures or {}, cells=2))


@pytest.mark.parametrize(
    ("box", "clipped"),
    [
        ((10, 20, 30, 40), (10, 20, 30, 40)),
        ((30, 40, 10, 20), (10, 20, 30, 40)),
        ((-5, 20, 900, 40), (0, 20, 400, 40)),
        ((0.25, 0.5, 0.5, 1), (100, 150, 200, 300)),
    ],
)
def test_a_box_is_put_in_order_within_its_image(box: Box, clipped: Box) -> None:
    assert trace("image_clue_0", box) == [Evidence("image_clue_0", clipped)]


def test_a_box_outside_its_image_is_dropped() -> None:
    assert trace("image_clue_0", (500, 20, 600, 40)) == []


def test_an_image_that_does_not_exist_is_dropped() -> None:
    assert trace("image_clue_7", (1, 2, 3, 4)) == []


def test_a_cell_that_did_not_run_is_dropped() -> None:
    assert [trace("cell 2"), trace("cell 3"), trace("cell 0")] == [[Evidence("cell 2")], [], []]


def test_a_figure_stands_for_the_region_of_the_original_that_it_shows() -> None:
    found = trace("image_clue_1", figures={"image_clue_1": (CLOSER,)})
    assert found == [Evidence("image_clue_0", (50, 60, 150, 110), "image_clue_1")]


def test_a_box_in_a_figure_is_found_in_the_original() -> None:
    found = trace("image_clue_1", (20, 40, 60, 80), {"image_clue_1": (CLOSER,)})
    assert found == [Evidence("image_clue_0", (60, 80, 80, 100), "image_clue_1")]


def test_a_figure_of_a_figure_leads_to_the_original() -> None:
    closer_still = Region("image_clue_1", (0, 0, 80, 80), (0.5, 0, 20, 0, 0.5, 40))
    found = trace("image_clue_2", figures={"image_clue_1": (CLOSER,), "image_clue_2": (closer_still,)})
    assert found == [Evidence("image_clue_0", (60, 80, 80, 100), "image_clue_2")]


def test_a_figure_that_shows_no_known_image_stays_a_figure() -> None:
    assert trace("image_clue_1", (1, 2, 3, 4), {"image_clue_1": ()}) == [Evidence("image_clue_1")]


def test_figures_that_claim_to_show_each_other_end() -> None:
    one, other = (Region(name, (0, 0, 9, 9), (1, 0, 0, 0, 1, 0)) for name in ("image_clue_2", "image_clue_1"))
    found = trace("image_clue_2", figures={"image_clue_1": (one,), "image_clue_2": (other,)})
    assert found == [Evidence("image_clue_1", source="image_clue_2")]


def test_a_claim_that_is_not_a_number_is_dropped() -> None:
    endless = Region("image_clue_0", (0, 0, 9, 9), (math.inf, 0, 0, 0, 1, 0))
    assert trace("image_clue_1", figures={"image_clue_1": (endless,)}) == [Evidence("image_clue_1")]


def test_the_last_closer_look_is_derived() -> None:
    figures = {"image_clue_1": (CLOSER,), "image_clue_2": (WHOLE,), "image_clue_3": ()}
    assert derive_evidence(ORIGINALS, figures) == (
        Evidence("image_clue_0", (50, 60, 150, 110), "image_clue_1", is_derived=True),
    )


def test_the_whole_image_is_derived_where_nothing_closer_was_looked_at() -> None:
    found = derive_evidence(ORIGINALS, {"image_clue_1": (WHOLE,)})
    assert [each.box for each in found] == [(0, 0, 400, 300)]


def test_nothing_is_derived_without_a_figure() -> None:
    assert derive_evidence(ORIGINALS, {}) == ()
