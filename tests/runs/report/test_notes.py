from __future__ import annotations

import pytest

from pyvision.events import Note
from pyvision.runs.report.notes import render_note
from tests.pages.parsed import Page


def test_any_note_is_shown_with_all_its_values() -> None:
    page = Page(
        render_note(Note("left_out", {"role": "solver", "pictures": ["image_clue_1"], "count": 2}), ())
    )
    assert page.text == 'left outrolesolverpictures["image_clue_1"]count2'


def test_long_values_stand_in_a_block_of_their_own() -> None:
    page = Page(render_note(Note("graph", {"nodes": [{"name": "n" * 200}]}), ()))
    assert page.counts()["pre"] == 1
    assert "n" * 200 in page.text


def test_a_note_without_data_is_its_label() -> None:
    assert Page(render_note(Note("repeated", {}), ())).text == "repeated"


def a_debate() -> tuple[Note, ...]:
    red, blue = ({"id": "a", "name": "ball", "attributes": [colour]} for colour in ("crimson", "teal"))
    common = {"debater": 1, "source": "read", "repairs": []}
    change = {
        "round": 1,
        "counts": {"entities": {"updated": 1, "kept": 2}, "relations": {"kept": 1}},
        "distance": 1.0,
    }
    return (
        Note("graph", {"role": "blueprint", "round": 0, "graph": {"nodes": [red], "edges": []}, **common}),
        Note("graph", {"role": "opponent", "round": 1, "graph": {"nodes": [blue], "edges": []}, **common}),
        Note("difference", {"comparison": "inter", **change}),
        Note("difference", {"comparison": "intra", **change}),
    )


def test_a_graph_is_drawn_with_what_changed_since_the_one_before_it() -> None:
    events = a_debate()
    first, second = (render_note(event, events) for event in events[:2])
    assert "<svg" in first
    assert "crimson" in first
    assert "teal" not in first
    assert all(part in second for part in ("opponent", "crimson", "teal"))


def test_the_changes_of_a_round_are_counted() -> None:
    events = a_debate()
    found = render_note(events[2], events)
    assert "entities 1 updated; relations unchanged; distance 1" in found


def test_the_change_of_a_round_is_drawn_as_a_whole() -> None:
    events = a_debate()
    assert "<svg" in render_note(events[2], events)


def test_a_difference_within_a_round_is_one_between_the_two_sides() -> None:
    events = a_debate()
    assert "between the two sides" in render_note(events[3], events)


def test_an_invalid_graph_is_shown_plainly() -> None:
    event = Note("graph", {"graph": 5})
    assert "<svg" not in render_note(event, (event,))


@pytest.mark.parametrize(
    ("note", "sentence"),
    [
        (Note("form", {"form": "vqa", "why": "choices are given"}), "vqa · choices are given"),
        (
            Note("backtrack", {"from": "vqa", "to": "START", "why": "it failed"}),
            "START · from vqa: it failed",
        ),
        (Note("debugging_ended", {"why": "rounds", "round": 3}), "round 3: no round was left"),
        (Note("debugging_ended", {"why": "<b>", "round": 3}), "round 3: <b>"),
    ],
)
def test_a_short_note_is_a_sentence(note: Note, sentence: str) -> None:
    assert sentence in Page(render_note(note, (note,))).text


def test_a_sentence_without_its_values_is_a_list() -> None:
    note = Note("malformed", {"why": "no code", "left": 2})
    assert Page(render_note(note, (note,))).text == "malformedwhyno codeleft2"


def test_a_round_that_changed_nothing_is_not_drawn_again() -> None:
    blueprint, opponent, change, _ = a_debate()
    unchanged = Note("difference", {**change.data, "counts": {"entities": {"kept": 2}}, "distance": 0.0})
    found = render_note(unchanged, (blueprint, opponent, unchanged))
    assert "entities unchanged" in found
    assert "<svg" not in found
