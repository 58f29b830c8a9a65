"""The path of a walk is drawn with every step, its verdict and its sources, and nothing of it is markup."""

from __future__ import annotations

from typing import Any

from pyvision.events import Event, Note
from pyvision.runs.report.notes import render_note, search_path, search_steps


def step(state: str, action: str, ruling: str, result: str = "") -> list[Note]:
    to = state if ruling == "not informative" else action
    answer = result if ruling == "answerable" else None
    why = result if answer is None else ""
    return [
        Note("verdict", {"step": 1, "action": action, "verdict": ruling, "why": why, "answer": answer}),
        Note("transition", {"step": 1, "from": state, "action": action, "to": to}),
    ]


def back(left: str, to: str) -> Note:
    return Note("backtrack", {"from": left, "to": to, "why": "nothing is left to try there"})


def ended(**more: Any) -> Note:
    source = {"number": 2, "title": "Bridges <b>", "address": "javascript:alert(1)"}
    return Note("answer", {"answer": "<i>1871", "sources": [source], "steps": [1], "forced": False, **more})


WALK = [
    *step("START", "vqa", "informative", "a bridge"),
    *step("vqa", "web_search", "not informative", "the tool found nothing"),
    back("vqa", "START"),
    *step("START", "identical_image_search", "answerable", "Orlen <script>"),
]


def test_a_row_follows_from_the_state_that_it_was_taken_in() -> None:
    rows = list(search_steps(WALK))
    assert [(row.name, row.depth, row.parent) for row in rows] == [
        ("START", 0, None),
        ("vqa", 1, 0),
        ("web_search", 2, 1),
        ("back to START", 0, 0),
        ("identical_image_search", 1, 0),
    ]
    assert [row.ruling for row in rows[1:3]] == ["informative", "not informative"]


def answer_with_path() -> str:
    answer = ended()
    return render_note(answer, [*WALK, answer])


def test_an_answer_is_shown_with_the_path_to_it() -> None:
    drawn = answer_with_path()
    assert "✓ identical_image_search" in drawn
    assert "✗ web_search" in drawn


def test_an_answer_is_shown_with_its_sources() -> None:
    assert 'value="2"' in answer_with_path()


def test_what_a_tool_observed_is_escaped() -> None:
    assert "<script>" not in answer_with_path()


def test_what_a_model_wrote_is_escaped() -> None:
    assert "<i>" not in answer_with_path()


def test_the_title_of_a_source_is_escaped() -> None:
    assert "<b>" not in answer_with_path().replace("<b>Answer: </b>", "")


def test_a_source_without_a_web_address_is_no_link() -> None:
    assert "href" not in answer_with_path()


def test_a_forced_answer_has_its_path_once() -> None:
    forced, answer = (
        Note("forced", {"why": "all calls are spent", "end_reason": "turn_limit"}),
        ended(forced=True),
    )
    events: list[Event] = [*WALK, forced, answer]
    assert "<svg" in render_note(forced, events)
    assert "<svg" not in render_note(answer, events)
    assert "Best answer" in render_note(answer, events)


def test_a_record_of_another_form_is_shown_plainly() -> None:
    strange = Note("answer", {"answer": "<x>"})
    assert "&lt;x&gt;" in render_note(strange, [strange])
    bad: list[Event] = [Note("transition", {"to": 1}), ended()]
    assert "<dl>" in render_note(bad[1], bad)  # type: ignore[arg-type]


def test_a_step_is_shown_with_its_verdict() -> None:
    verdict = step("START", "vqa", "answerable", "a <b>bridge")[0]
    drawn = render_note(verdict, [verdict])
    assert "Step 1, vqa" in drawn
    assert "✓ answerable" in drawn
    assert "a &lt;b&gt;bridge" in drawn


def test_a_plan_is_shown_with_its_query_without_empty_values() -> None:
    data = {"state": "START", "feasible": ["vqa", "llm_qa"], "excluded": [], "rejected": [], "action": "vqa"}
    plan = Note("plan", {**data, "query": "which bridge?", "by": "planner"})
    drawn = render_note(plan, [plan])
    assert "Next: vqa" in drawn
    assert "which bridge?" in drawn
    assert "[]" not in drawn


def test_a_first_step_is_no_reply_that_named_none() -> None:
    data = {"state": "START", "feasible": ["object_select", "vqa"], "action": "object_select", "query": None}
    drawn = render_note(Note("plan", {**data, "by": "first step"}), [])
    assert "the usual first step, without a planner; instead of vqa" in drawn


def test_a_memory_without_content_is_not_shown() -> None:
    memory = Note("memory", {"part": "visual", "query": "q", "findings": [], "sources": []})
    assert render_note(memory, [memory]) == ""


def test_the_path_of_a_run_is_an_image() -> None:
    assert "<svg" in (search_path(WALK) or "")
    assert search_path([Note("verdict", {"action": "vqa"}), Note("transition", {})]) is None
