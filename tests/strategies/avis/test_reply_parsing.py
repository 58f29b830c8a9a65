"""Replies are read tolerantly, and whatever they hold, reading them never fails."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.strategies.avis.actions import ACTIONS
from pyvision.strategies.avis.reply_parsing import (
    Decomposition,
    Judgement,
    PlannedAction,
    find_answer,
    find_decomposition,
    find_judgement,
    find_object,
    find_plan,
    is_refusal,
    says_enough,
    source_numbers,
)

PIECES = (
    *(
        "Action:",
        "Verdict: ",
        "answer is ",
        "Answer:",
        "\n",
        "vqa",
        "informative",
        "not ",
        "Object #",
        "3",
        "#",
    ),
    *("Visual: x", "Knowledge: ", "**", '"', "{", "}", ",", "<think>", "</think>", "Sources: [1]"),
)
ANY = st.text(max_size=300) | st.lists(st.sampled_from(PIECES), max_size=20).map("".join)


@pytest.mark.parametrize(
    ("reply", "plan"),
    [
        ("vqa", PlannedAction("vqa")),
        ("Action: web_search\nQuery: height of Orlen", PlannedAction("web_search", "height of Orlen")),
        ("**Action:** `llm_qa`", PlannedAction("llm_qa")),
        ('{"action": "web_search", "query": "Orlen"}', PlannedAction("web_search", "Orlen")),
        ("I first thought of vqa.\nAction: Identical Image Search", PlannedAction("identical_image_search")),
        ("--image_search", PlannedAction("image_search")),
        ("I would take vqa now.", PlannedAction("vqa")),
        ("<think>vqa or llm_qa?</think>object-select", PlannedAction("object_select")),
        ('Action: web_search("height of Orlen")', PlannedAction("web_search", "height of Orlen")),
        ("Action: web_search[height of Orlen]", PlannedAction("web_search", "height of Orlen")),
        ("Action: web_search\nAction Input: Orlen", PlannedAction("web_search", "Orlen")),
        ("Action: web_search | Query: Orlen", PlannedAction("web_search", "Orlen")),
        ('{"action": {"name": "web_search", "query": "Orlen"}}', PlannedAction("web_search", "Orlen")),
        ("{'action': 'web_search', 'query': 'Orlen'}", PlannedAction("web_search", "Orlen")),
        ("<action>web_search</action>\n<query>Orlen</query>", PlannedAction("web_search", "Orlen")),
        ("→ Action: web_search\n→ Query: Orlen", PlannedAction("web_search", "Orlen")),
        ("[Action] web_search\n[Query] Orlen", PlannedAction("web_search", "Orlen")),
        ('Action: web_search\nQuery: who wrote "Emma"', PlannedAction("web_search", 'who wrote "Emma"')),
        ("Action: web_search (the year has to be looked up)", PlannedAction("web_search")),
        ("vqa or llm_qa", None),
        ("images are searched", None),
        ("my_vqa_tool", None),
    ],
)
def test_the_action_of_a_plan(reply: str, plan: PlannedAction | None) -> None:
    assert find_plan(reply) == plan


@pytest.mark.parametrize(
    ("reply", "parts"),
    [
        ("Visual: which bird?\nKnowledge: wingspan of #", Decomposition("which bird?", "wingspan of #")),
        ("**Visual:** which bird?\n**Knowledge:** #", Decomposition("which bird?", None)),
        ("visual: a\nknowledge: '#'?", Decomposition("a", "'#'?")),
        ("Visual: which bird?", None),
        ("Knowledge: #", None),
        ("", None),
    ],
)
def test_the_parts_of_a_question(reply: str, parts: Decomposition | None) -> None:
    assert find_decomposition(reply) == parts


def test_the_answer_stands_wherever_the_sign_stood() -> None:
    assert Decomposition("v", "are #'s horns longer than those of a #?").knowledge_query("kudu") == (
        "are kudu's horns longer than those of a kudu?"
    )


@pytest.mark.parametrize(
    ("reply", "number"),
    [
        ("Therefore, the predicted Object #ID is 3.", 3),
        ("Object #1 is a boat.\nObject: 2", 2),
        ("**Object:** #4", 4),
        ("0", 0),
        ("#2.", 2),
        ("the 2 boats", None),
        ("", None),
    ],
)
def test_the_number_of_an_object(reply: str, number: int | None) -> None:
    assert find_object(reply) == number


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("Verdict: not informative", Judgement("not informative")),
        ("Verdict: Informative\nAnswer: none", Judgement("informative")),
        ("Verdict: answerable\nAnswer: 1871.", Judgement("answerable", answer="1871")),
        ("**Verdict**: **answerable**\n**Answer**: **1871**", Judgement("answerable", answer="1871")),
        (
            "yes, answerable. Therefore, the predicted answer is Orlen.",
            Judgement("answerable", answer="Orlen"),
        ),
        ("The query cannot be answered.", Judgement("not informative")),
        ("Therefore it cannot be answered", Judgement("not informative")),
        ("yes, informative", Judgement("informative")),
        ("Verdict: no", Judgement("not informative")),
        ("Answer: cannot be answered", Judgement("not informative")),
        ("Verdict: answerable", Judgement("answerable")),
        ("Verdict: informative\nAnswer: 1871", Judgement("informative")),
        (
            "Finding: it is old\nSources: [2], [3]\nVerdict: informative",
            Judgement("informative", "it is old", None, (2, 3)),
        ),
        (
            "Answer is given nowhere? The answer is 12 m, length",
            Judgement("answerable", answer="12 m, length"),
        ),
        ("Hm.", None),
        ("", None),
    ],
)
def test_the_verdict_of_a_reasoner(reply: str, verdict: Judgement | None) -> None:
    assert find_judgement(reply) == verdict


def test_the_type_behind_a_visual_answer_is_taken_off() -> None:
    assert (
        find_answer("Therefore, the predicted answer is Orlen Bridge, bridge.", has_type=True)
        == "Orlen Bridge"
    )
    assert find_answer("Answer: Velt, Orlen", has_type=True) == "Velt, Orlen"


@given(ANY)
def test_nothing_that_a_model_says_breaks_the_reading(text: str) -> None:
    plan, verdict, number = find_plan(text), find_judgement(text, has_type=True), find_object(text)
    find_decomposition(text)
    source_numbers(text)
    assert plan is None or plan.action in ACTIONS
    assert number is None or number >= 0
    assert verdict is None or (verdict.answer is not None) == (verdict.ruling == "answerable")


@given(
    st.sampled_from(list(ACTIONS)),
    st.from_regex(r"[a-zA-Z0-9][a-zA-Z0-9 ]{0,30}[a-zA-Z0-9]", fullmatch=True),
)
def test_a_plan_in_the_asked_form_is_read_back(action: str, query: str) -> None:
    assert find_plan(f"Action: {action}\nQuery: {query}") == PlannedAction(action, query)  # type: ignore[arg-type]


FORMS = {
    "next line": "Verdict:\nanswerable\n\nAnswer:\n1871",
    "numbered": "1. Think: it says so\n2. Verdict: answerable\n3. Answer: 1871",
    "numbered in bold": "**3) Verdict:** answerable\n**4) Answer:** 1871",
    "headings": "## Verdict\nanswerable\n\n## Answer\n1871",
    "bold headings": "**Verdict**\nanswerable\n\n**Answer**\n1871",
    "headings with colons": "### Verdict: answerable\n### Answer: 1871",
    "bullets": "- Verdict: answerable\n- Answer: 1871",
    "dashes": "Verdict - answerable\nAnswer – 1871",
    "rows": "| Verdict | answerable |\n|---|---|\n| Answer | 1871 |",
    "rows under a header": "| Field | Value |\n|---|---|\n| Verdict | answerable |\n| Answer | 1871 |",
    "columns": "| Verdict | Answer |\n|---|---|\n| answerable | 1871 |",
    "one-line JSON": '{"think": "it says so", "verdict": "answerable", "answer": "1871"}',
    "JSON with a number": '{"verdict": "answerable", "answer": 1871, "sources": [2]}',
    "fenced JSON": '```json\n{\n  "Verdict": "answerable",\n  "Answer": "1871"\n}\n```',
    "quoted": "> Verdict: answerable\n> Answer: 1871",
    "code": "Verdict: `answerable`\nAnswer: `1871`",
    "equals": "verdict = answerable\nanswer = 1871",
    "sentence": "Verdict: answerable\nTherefore the answer is 1871.",
    "capitals": "VERDICT: ANSWERABLE\nANSWER: 1871",
}


@pytest.mark.parametrize("form", FORMS)
def test_a_judgement_is_found_in_the_forms_that_models_write(form: str) -> None:
    found = find_judgement(FORMS[form])
    assert found is not None
    assert (found.ruling, found.answer) == ("answerable", "1871")


def test_an_answer_that_is_only_announced_is_missing() -> None:
    found = find_judgement("Verdict: answerable\nAnswer:\n\n## Sources\n[1]")
    assert found is not None
    assert found.answer is None


@pytest.mark.parametrize(
    "reply", ["Action: answer", "**Action:** Answer", '{"action": "answer"}', "answer", "Done."]
)
def test_a_planner_may_say_that_enough_is_known(reply: str) -> None:
    assert says_enough(reply)


@pytest.mark.parametrize(
    "reply", ["Action: vqa\nQuery: is this enough?", "web_search", "I have no answer yet", ""]
)
def test_a_plan_is_no_end_of_the_search(reply: str) -> None:
    assert not says_enough(reply)


def test_hostile_decoration_is_read_at_once() -> None:
    assert find_judgement("*" * 200_000 + "1." * 50_000 + "x") is None


@pytest.mark.parametrize(
    ("reply", "refuses"),
    [
        ("I'm sorry, but I cannot help with vqa.", True),
        ("I cannot help with that.", True),
        ("<think>Shall I?</think>I can't identify people in images.", True),
        ("I'm sorry, but the title is another one.\nVerdict: not informative", False),
        ("I cannot answer yet.\nAction: web_search", False),
        ("I'm sorry, but it is a lighthouse.", False),
        ("Action: vqa", False),
    ],
)
def test_only_a_reply_that_declines_without_a_decision_is_a_refusal(reply: str, refuses: bool) -> None:
    assert is_refusal(reply) == refuses


@pytest.mark.parametrize("answer", ["J. F. K.", "Washington, D.C.", "it's blue", "1988"])
def test_an_answer_keeps_the_signs_that_belong_to_it(answer: str) -> None:
    assert find_answer(f"Verdict: answerable\nAnswer: {answer}") == answer


@pytest.mark.parametrize("piece", ["**action**\n", "{a:1}", "<action>", "; action", "| ", " ", "[Action] "])
def test_a_long_reply_is_read_in_the_time_of_a_quick_test(piece: str) -> None:
    find_judgement(piece * 4_000)
