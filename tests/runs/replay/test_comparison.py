from __future__ import annotations

import pytest

from pyvision.runs.replay.comparison import difference
from sandbox import CellError, CellResult, Figure, Omitted, Stream
from tests.runs.runs import figure, noise

SAME = CellResult("ok", (Stream("stdout", "one\ntwo\n"), figure(noise()), Stream("result", "3")), seconds=1.0)


def printed(text: str) -> CellResult:
    return CellResult("ok", (Stream("stdout", text),))


def describe(recorded: CellResult, now: CellResult) -> str:
    found = difference(recorded, now)
    assert found is not None
    return str(found)


def test_the_same_output_is_no_difference_at_any_speed() -> None:
    assert difference(SAME, CellResult("ok", SAME.outputs, seconds=9.0)) is None


def test_text_that_came_in_other_pieces_is_the_same() -> None:
    pieces = CellResult("ok", (Stream("stdout", "one\n"), Stream("stdout", "two\n"), *SAME.outputs[1:]))
    assert difference(SAME, pieces) is None


def test_the_first_line_that_differs_is_named() -> None:
    assert (
        describe(printed("one\ntwo\n"), printed("one\nthree\n"))
        == "stdout, line 2: recorded 'two', now 'three'"
    )
    assert (
        describe(printed("one\n"), printed("one\nmore\n")) == "stdout, line 2: recorded nothing, now 'more'"
    )


def test_addresses_are_not_compared() -> None:
    assert difference(printed("<a at 0x7f0011223344>"), printed("<a at 0x7fffffffff00>")) is None
    assert difference(printed("0x10"), printed("0x11")) is not None


def test_the_status_comes_first() -> None:
    failed = CellResult("error", (), CellError("ValueError", "no"))
    assert describe(SAME, failed) == "status: recorded ok, now error"


def test_another_exception_is_named() -> None:
    one, other = (CellResult("error", (), CellError("ValueError", why, traceback=why)) for why in ("a", "b"))
    assert describe(one, other) == "exception: recorded 'ValueError: a', now 'ValueError: b'"


def test_the_first_pixel_that_differs_is_named() -> None:
    changed = noise()
    changed.putpixel((7, 5), (0, 0, 0))
    before = noise().getpixel((7, 5))
    text = describe(CellResult("ok", (figure(noise()),)), CellResult("ok", (figure(changed),)))
    assert text == f"figure 1, 1 of 10,800 pixels, the first at (7, 5): recorded {before}, now (0, 0, 0)"


def test_the_same_pixels_in_another_file_are_the_same() -> None:
    one = figure(noise())
    other = Figure(one.data + b"more", one.mime, one.width, one.height)
    assert difference(CellResult("ok", (one,)), CellResult("ok", (other,))) is None


@pytest.mark.parametrize(
    ("now", "what"),
    [
        ((), "figures: recorded 1, now 0"),
        ((figure(noise(9, 8)),), "figure 1, size: recorded 120x90, now 9x8"),
        ((Figure(b"no", "image/png", 120, 90),), "figure 1: recorded an image, now not an image"),
    ],
)
def test_figures_of_another_number_size_or_kind_are_named(now: tuple[Figure, ...], what: str) -> None:
    assert describe(CellResult("ok", (figure(noise()),)), CellResult("ok", now)) == what


def test_output_that_is_left_out_now_is_a_difference() -> None:
    assert "omitted" in describe(
        printed("a\n"), CellResult("ok", (Stream("stdout", "a\n"), Omitted("9 lines")))
    )


def test_variables_that_were_lost_now_are_a_difference() -> None:
    intact, lost = CellResult("timeout"), CellResult("timeout", state="lost")
    assert describe(intact, lost) == "variables: recorded kept, now lost"
