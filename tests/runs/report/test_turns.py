from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pyvision.events import ImageDefined, ModelCall, Note, ToolRun
from pyvision.runs.report import report
from pyvision.runs.report.crops import CropFinder
from pyvision.runs.report.figures import Figures, PageImages
from pyvision.runs.report.turns import tool_block
from pyvision.runs.run import read_run
from pyvision.types import Message, Observation, Reply, Source, Text, ToolRequest
from tests.doubles import picture
from tests.pages.parsed import Page
from tests.payloads import PAYLOADS
from tests.runs.runs import recorded, simple_events
from tests.strategies.bdog.runs import write_run


def page(request: ToolRequest, seen: Observation) -> Page:
    return Page(
        tool_block(ToolRun("similar_image", request, seen, 0.25), Figures(PageImages([]), {}, CropFinder({})))
    )


def test_a_use_is_one_line_that_opens_on_the_whole() -> None:
    asked = ToolRequest("which bird?", picture(33, 20), {"top": 3})
    rendered = page(asked, Observation("Great tit\n" + "x" * 200, sources=(Source("Birds", "birds.md"),)))
    assert rendered.text.startswith("similar image which bird? → Great tit xx")
    assert "… 0.2 s" in rendered.text
    for part in ("input image 33 × 20", '{"top": 3}', "x" * 200, "Birds · birds.md"):
        assert part in rendered.text


def test_a_use_names_the_property_that_it_verifies() -> None:
    asked = ToolRequest("cup", picture(33, 20), {"property": "blue"})
    assert page(asked, Observation("yes")).text.startswith("similar image cup, blue → yes")


def test_a_list_of_hits_begins_with_its_first_one() -> None:
    assert page(ToolRequest("cup"), Observation("Retrievals: [\n  a cup\n]")).text.startswith(
        "similar image cup → a cup"
    )


def test_the_failure_of_a_tool_is_shown_as_an_error() -> None:
    assert "error" in page(ToolRequest("?"), Observation(error="the provider is down")).text


def test_an_empty_observation_is_shown_as_nothing() -> None:
    assert "nothing" in page(ToolRequest("?"), Observation()).text


def test_the_observation_of_a_tool_is_text() -> None:
    for payload in PAYLOADS:
        hostile = Observation(payload, sources=(Source(payload, payload),))
        found = page(ToolRequest(payload, options={"k": payload}), hostile)
        assert set(found.counts()) <= {"details", "summary", "b", "span", "small", "div", "pre", "ul", "li"}


def page_of_a_tool(folder: Path) -> Page:
    """The page of a run in which a tool looked at a cut of the question's image."""
    began, *rest = simple_events()
    cut = next(event.picture for event in rest if isinstance(event, ImageDefined))
    used = ToolRun("vqa", ToolRequest("which?", cut), Observation("grey"), 0.1)
    return Page(report(recorded(folder, (began, used, *rest))))


def test_a_page_shows_the_input_of_a_tool(tmp_path: Path) -> None:
    page = page_of_a_tool(tmp_path)
    assert "input image 40 × 30 px" in page.text
    assert "not an image that can be shown" not in page.text


def test_a_page_says_where_the_input_of_a_tool_lies(tmp_path: Path) -> None:
    assert "image_clue_0 from (10, 20) to (50, 50)" in page_of_a_tool(tmp_path).text


def test_a_reply_whose_graph_is_drawn_is_folded(tmp_path: Path) -> None:
    html = report(read_run(write_run(tmp_path / "run")))
    section = html.partition('id="turn-1"')[2].partition("</section>")[0]
    shown, _, folded = section.partition("<summary>Full reply</summary>")
    assert "&quot;nodes&quot;" not in shown.partition("</details>")[2]
    assert "nodes" in folded.partition("</details>")[0]
    assert "<svg" in section


def test_a_reply_that_its_notes_show_is_folded(tmp_path: Path) -> None:
    asked = replace(_asked(), reply=Reply("Action: vqa"))
    plan = Note("plan", {"action": "vqa", "query": "", "feasible": [], "by": "planner"})
    html = report(recorded(tmp_path, (simple_events()[0], asked, plan)))
    assert "Action: vqa" not in html.partition("<summary>Full reply</summary>")[0].partition('id="turn-1"')[2]


def test_a_reply_that_could_not_be_read_is_shown(tmp_path: Path) -> None:
    asked = replace(_asked(), reply=Reply("Let me think."))
    notes = (Note("malformed", {"role": "planner"}), Note("plan", {"action": "vqa"}))
    html = report(recorded(tmp_path, (simple_events()[0], asked, *notes)))
    assert "Full reply" not in html
    assert "Let me think." in html


def test_retrieved_images_stand_with_the_verdict_on_them(tmp_path: Path) -> None:
    pictures = (picture(60, 40), picture(50, 44))
    asked = replace(_asked(), messages=(Message("user", (*pictures, Text("Judge"))),))
    verdict = Note(
        "verdict", {"step": 1, "action": "image_search", "verdict": "informative", "why": "", "answer": None}
    )
    text = Page(report(recorded(tmp_path, (simple_events()[0], asked, verdict)))).text
    assert "retrieved image 1 50 × 44 px" in text
    assert "60 × 40" not in text.partition("retrieved image")[2]


def _asked() -> ModelCall:
    return next(event for event in simple_events() if isinstance(event, ModelCall))
