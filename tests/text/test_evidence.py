from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.text.evidence import MOST_CITED, find_evidence, without_evidence
from pyvision.types import Evidence

BOX = Evidence("image_clue_0", (120.0, 80.0, 310.0, 140.5))


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
