"""The kinds of tools in cells: against labels by hand, and on cells that are nothing of the sort."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.analysis.taxonomy import ToolCounts, classify, count_tools
from pyvision.bench.analysis.tool_rules import CLASS_OF, SURE
from tests.bench.taxonomy.snippets import agreement, class_agreement, read_snippets


def test_there_are_a_hundred_labelled_snippets_of_every_kind() -> None:
    snippets = [*read_snippets("tuning.txt"), *read_snippets("held_out.txt")]
    assert len(snippets) == 100
    assert set().union(*(one.kinds for one in snippets)) == set(CLASS_OF)
    assert all(5 <= len(one.code.strip().splitlines()) <= 25 for one in snippets if one.kinds != {"other"})


def test_the_snippets_that_the_rules_were_tuned_on_agree() -> None:
    assert agreement(read_snippets("tuning.txt")) >= 0.95


def test_snippets_unseen_while_tuning_agree() -> None:
    held_out = read_snippets("held_out.txt")
    assert agreement(held_out) >= 0.85
    assert class_agreement(held_out) >= 0.9


@pytest.mark.parametrize(
    "code",
    ["while True print(1)", "x = (", "\0", "\ufeffprint(1)", "é = '\ud800'", "(" * 500, "-" * 100_000 + "1"],
)
def test_code_that_is_not_python_is_other(code: str) -> None:
    assert classify(code).kinds == ("other",)


def test_invalid_code_is_other_with_its_reason() -> None:
    assert "not valid Python" in classify("for i in range(3)\n  pass").why
    assert classify("image_clue_0").why == ""


@given(
    st.text(
        alphabet=st.sampled_from("image_clue_0[]():,.=+-*/<>'\"\n abcrop%!#") | st.characters(), max_size=80
    )
)
def test_any_text_gets_a_kind(code: str) -> None:
    assert classify(code).kinds


@given(st.sampled_from(sorted(SURE)))
def test_a_function_of_the_models_own_is_not_taken_for_the_librarys(name: str) -> None:
    assert classify(f"def {name}(x):\n    return x\n{name}(image_clue_0)").kinds == ("other",)


@pytest.mark.parametrize(
    ("code", "kinds"),
    [
        ("table = np.array([[1, 2], [3, 4]])\ntable[0:1, 0:2]", ("other",)),
        ("np.array(image_clue_0)[10:20, 30:40]", ("crop",)),
        ("for i in (0,):\n    part = np.array(image_clue_0)\npart[0:9, 0:9]", ("crop",)),
        (
            "for i in (0,):\n    whole = np.array(image_clue_0)\npart = whole.copy()\npart[0:9, 0:9]",
            ("crop",),
        ),
        ("np.array(image_clue_0)[..., 0]", ("other",)),
        ("np.array(image_clue_0)[::2, ::2]", ("other",)),
        ("%matplotlib inline\nimage_clue_0.crop((0, 0, 9, 9))", ("crop",)),
        ("plt.scatter([1, 2], [3, 4])\nplt.show()", ("other",)),
        ("plt.imshow(image_clue_0)\nplt.scatter([1, 2], [3, 4])", ("marks",)),
        ("plt.imshow(image_clue_0)\nplt.plot([1, 2], [3, 4], 'ro')", ("marks",)),
        ("plt.imshow(image_clue_0)\nplt.plot([1, 2], [3, 4], 'r-')", ("lines",)),
        ("image_clue_0.filter(ImageFilter.SHARPEN)", ("enhance",)),
        ("image_clue_0.filter(ImageFilter.FIND_EDGES)", ("detection",)),
        ("g = cv2.GaussianBlur(image_clue_0, (5, 5), 0)\ncv2.Canny(g, 9, 99)", ("detection",)),
        ("np.transpose(a, (1, 0, 2))", ("other",)),
        ("print('no \\d escape')", ("other",)),
    ],
)
def test_an_idiom_is_distinguished_from_its_neighbour(code: str, kinds: tuple[str, ...]) -> None:
    assert classify(code).kinds == kinds


def test_counts_hold_every_kind_once_for_each_cell() -> None:
    cells = [
        "image_clue_0.crop((0, 0, 9, 9)); image_clue_0.crop((1, 1, 5, 5))",
        "image_clue_0.rotate(9)",
        "x = (",
    ]
    counts = count_tools(cells)
    assert (counts.cells, counts.broken) == (3, 1)
    assert {kind: number for kind, number in counts.kinds.items() if number} == {
        "crop": 1,
        "rotate": 1,
        "other": 1,
    }
    assert counts.classes == {"basic": 2, "advanced": 0, "prompting": 0, "numerical": 0, "other": 1}
    assert counts.share("basic") == pytest.approx(2 / 3)


def test_no_cells_have_no_shares() -> None:
    assert count_tools([]) == ToolCounts(0, dict.fromkeys(CLASS_OF, 0))
    assert count_tools([]).share("basic") == 0
