from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox import Figure, Omitted, Policy, Stream
from sandbox.protocol.collect import OMITTED, Collector, cell_error
from tests.sandbox.conftest import png
from tests.sandbox.protocol.png_files import chunk, png_file

# How fast a loaded machine makes examples says nothing about the code.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
PNG = base64.b64encode(png()).decode()


def collected(*messages: tuple[str, dict[str, Any]], policy: Policy | None = None) -> Collector:
    collector = Collector(policy or Policy())
    for kind, content in messages:
        collector.add(kind, content)
    return collector


def stream(text: str, name: str = "stdout") -> tuple[str, dict[str, Any]]:
    return "stream", {"name": name, "text": text}


def shown(data: object, kind: str = "display_data") -> tuple[str, dict[str, Any]]:
    return kind, {"data": data}


def test_neighbouring_pieces_of_a_stream_are_joined_in_order() -> None:
    outputs = collected(stream("a"), stream("b"), stream("c", "stderr"), stream("d")).outputs()
    assert outputs == (Stream("stdout", "ab"), Stream("stderr", "c"), Stream("stdout", "d"))


def test_figures_stay_between_the_texts_around_them() -> None:
    outputs = collected(
        stream("a"), shown({"image/png": PNG, "text/plain": "<Figure>"}), stream("b")
    ).outputs()
    assert outputs == (Stream("stdout", "a"), Figure(png(), "image/png", 40, 30), Stream("stdout", "b"))


def test_a_result_is_text_with_a_newline() -> None:
    assert collected(shown({"text/plain": "5"}, "execute_result")).outputs() == (Stream("result", "5\n"),)


def test_long_text_is_cut_in_its_middle_with_a_note() -> None:
    collector = collected(*[stream(f"{number:03}") for number in range(100)], policy=Policy(output_chars=30))
    assert collector.outputs() == (
        Stream("stdout", "000001002003004"),
        Omitted("270 characters left out"),
        Stream("stdout", "095096097098099"),
    )


def test_one_message_over_the_limit_is_cut_in_its_middle() -> None:
    outputs = collected(stream("a" * 50 + "b" * 50), policy=Policy(output_chars=10)).outputs()
    assert outputs == (
        Stream("stdout", "aaaaa"),
        Omitted("90 characters left out"),
        Stream("stdout", "bbbbb"),
    )


def test_figures_survive_a_flood_of_text() -> None:
    flood = [stream("x" * 100)] * 50
    collector = collected(*flood, shown({"image/png": PNG}), *flood, policy=Policy(output_chars=40))
    assert sum(isinstance(output, Figure) for output in collector.outputs()) == 1


def test_what_is_kept_of_a_flood_does_not_grow_with_it() -> None:
    collector = collected(*[stream("x" * 1000)] * 5000, policy=Policy(output_chars=1000))
    kept = sum(len(output.text) for output in collector.outputs() if isinstance(output, Stream))
    assert kept == 1000


def test_figures_over_the_count_are_counted_once_at_the_end() -> None:
    outputs = collected(*[shown({"image/png": PNG})] * 5, stream("end"), policy=Policy(figures=2)).outputs()
    assert [type(output) for output in outputs] == [Figure, Figure, Stream, Omitted]
    assert outputs[-1] == Omitted("3 more figures left out")


@pytest.mark.parametrize(
    ("data", "policy", "why"),
    [
        ({"image/png": PNG}, Policy(figure_pixels=1000), "40x30 pixels"),
        ({"image/png": base64.b64encode(bytes(9000)).decode()}, Policy(figure_bytes=100), "9000 bytes"),
        ({"image/png": base64.b64encode(b"GIF89a" + bytes(50)).decode()}, Policy(), "not a PNG file"),
        ({"image/png": "ÿ" * 8}, Policy(), "no base64"),
        ({"image/jpeg": PNG}, Policy(), "the type image/jpeg"),
        ({"image/png": PNG}, Policy(output_bytes=50), "50 bytes of output"),
        ({OMITTED: "image not shown"}, Policy(), "image not shown"),
    ],
)
def test_an_unusable_figure_leaves_a_note(data: dict[str, str], policy: Policy, why: str) -> None:
    (output,) = collected(shown(data), policy=policy).outputs()
    assert isinstance(output, Omitted)
    assert why in output.note


def test_notes_of_the_guest_are_bounded_too() -> None:
    outputs = collected(*[shown({OMITTED: "y" * 10_000})] * 100, policy=Policy(figures=3)).outputs()
    assert len(outputs) == 4
    assert all(isinstance(output, Omitted) and len(output.note) <= 300 for output in outputs)


def test_the_line_is_that_of_the_innermost_frame_of_the_cell() -> None:
    stack = [
        '  File "<cell>", line 9, in <module>',
        '  File "<cell>", line 4, in f',
        '  File "<cell 1>", line 2, in g',
    ]
    assert cell_error({"ename": "ValueError", "evalue": "a", "traceback": stack}).line == 4


def test_colours_are_taken_out_of_an_error() -> None:
    error = cell_error({"ename": "E", "evalue": "\x1b[31mred\x1b[0m", "traceback": ["\x1b[1mat\x1b[0m"]})
    assert (error.message, error.traceback) == ("red", "at")


def test_a_figure_keeps_nothing_but_its_pixels() -> None:
    text = base64.b64encode(png_file(4, 3, chunk(b"tEXt", b"a\0b"))).decode()
    assert collected(shown({"image/png": text})).outputs() == (Figure(png_file(4, 3), "image/png", 4, 3),)


def test_base64_may_have_lines() -> None:
    lines = base64.encodebytes(png()).decode()
    assert collected(shown({"image/png": lines})).outputs() == (Figure(png(), "image/png", 40, 30),)


def test_figures_over_the_count_do_not_use_up_the_bytes_of_a_cell() -> None:
    policy = Policy(figures=1, output_bytes=2 * len(png()))
    outputs = collected(*[shown({"image/png": PNG})] * 5, policy=policy).outputs()
    assert outputs == (Figure(png(), "image/png", 40, 30), Omitted("4 more figures left out"))


@pytest.mark.parametrize(("field", "most"), [("ename", 200), ("evalue", 4_000), ("traceback", 8_100)])
def test_every_part_of_an_error_has_an_end(field: str, most: int) -> None:
    text = "\x1b[1m" + "e" * 1_000_000
    error = cell_error({"ename": "E", field: [text] * 9 if field == "traceback" else text})
    assert 100 < max(map(len, (error.name, error.message, error.traceback))) <= most


def test_a_traceback_of_many_parts_keeps_its_ends() -> None:
    parts = ["first", *["between"] * 1_000_000, '  File "<cell>", line 7, in f']
    error = cell_error({"traceback": parts})
    assert (error.traceback[:5], error.line) == ("first", 7)


@patient
@given(st.text("\x1b[0;m\ud800a", max_size=60))
def test_text_of_an_error_can_be_written(text: str) -> None:
    error = cell_error({"ename": text, "evalue": text, "traceback": [text]})
    assert f"{error.name}{error.message}{error.traceback}!".encode()


@patient
@given(st.lists(st.text(max_size=30), max_size=8), st.integers(1, 40))
def test_what_is_kept_are_the_ends_of_all_text(pieces: list[str], most: int) -> None:
    text = "".join(pieces)
    outputs = collected(*map(stream, pieces), policy=Policy(output_chars=most)).outputs()
    kept = "".join(output.text for output in outputs if isinstance(output, Stream))
    whole = len(text) <= most
    assert kept == (text if whole else text[: most - most // 2] + text[len(text) - most // 2 :])


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=5,
)
fields = st.sampled_from(["name", "text", "data", "ename", "evalue", "traceback", "image/png", "text/plain"])
kinds = st.sampled_from(["stream", "execute_result", "display_data", "error", "status", "nonsense"])


@patient
@given(st.lists(st.tuples(kinds, st.dictionaries(fields, anything, max_size=4)), max_size=5))
def test_no_message_makes_it_raise(messages: list[tuple[str, dict[str, Any]]]) -> None:
    collected(*messages).outputs()


@patient
@given(
    st.dictionaries(st.sampled_from(["image/png", "image/jpeg", OMITTED, "text/plain"]), anything, max_size=4)
)
def test_no_display_makes_it_raise(data: dict[str, Any]) -> None:
    collected(shown(data)).outputs()
