from __future__ import annotations

import base64
import hashlib
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from pyvision.events import CellRun, ModelCall, RunEnded, RunStarted, Sent
from pyvision.runs.report import report
from pyvision.types import Evidence, Outcome
from sandbox import CellResult, Stream
from tests.pages.parsed import Page
from tests.runs.runs import eventful_events, figure, noise, recorded, simple_events, tool_events


@pytest.fixture(scope="module")
def simple(tmp_path_factory: pytest.TempPathFactory) -> Page:
    return Page(report(recorded(tmp_path_factory.mktemp("simple"), simple_events())))


@pytest.fixture(scope="module")
def eventful(tmp_path_factory: pytest.TempPathFactory) -> Page:
    return Page(report(recorded(tmp_path_factory.mktemp("eventful"), eventful_events())))


def test_every_element_is_closed(simple: Page, eventful: Page) -> None:
    assert simple.open == eventful.open == []


@pytest.mark.parametrize(
    "expected",
    ["Which colour is at (10, 20)?", "grey", "print(image_clue_0.size)", "(120, 90)", "Answered."],
    ids=["question", "answer", "code", "output", "end"],
)
def test_it_shows_every_step_from_the_question_to_the_answer(simple: Page, expected: str) -> None:
    assert expected in simple.text


@pytest.mark.parametrize(
    "expected",
    ["100 in (50 cached), 20 out", "2 of 20", "278 of 2,000,000", "2.4 of 1,800.0"],
    ids=["tokens of a reply", "turns", "tokens", "seconds"],
)
def test_it_shows_what_the_run_has_used(simple: Page, expected: str) -> None:
    assert expected in simple.text


@pytest.mark.parametrize(
    "expected", ["2 of 20", "1 model call by tools", "Model call by a tool: vqa", "It is **grey**."]
)
def test_a_model_that_a_tool_asks_is_shown_within_its_turn(tmp_path: Path, expected: str) -> None:
    page = Page(report(recorded(tmp_path, tool_events())))
    assert expected in page.text
    assert "Turn 3" not in page.text


def test_it_reports_everything_that_went_wrong(eventful: Page) -> None:
    for expected in (
        "raised an error",
        "timed out",
        "the kernel died",
        "variables were lost",
        "NameError: name 'x' is not defined",
        "9 lines left out",
        "the reply was cut off at its length limit",
        "unnamed figure: this file is not an image",
        "Late output of an earlier cell",
        "The turn limit was reached. Cause: a limit of this run.",
        "the last reply held no answer",
    ):
        assert expected in eventful.text


def test_it_asks_for_nothing_from_anywhere(simple: Page) -> None:
    urls = [
        value
        for _, attributes in simple.elements
        for name, value in attributes.items()
        if name in ("src", "href")
    ]
    assert urls
    assert all(str(url).startswith(("#", "data:image/")) for url in urls)
    assert "script" not in simple.counts()
    assert "link" not in simple.counts()


def test_its_policy_allows_nothing_but_what_the_page_contains(simple: Page) -> None:
    policy = simple.named("meta")[1]["content"]
    style = re.search(r"<style>(.*?)</style>", simple.source, re.DOTALL)
    assert style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


def test_no_element_has_a_style_of_its_own(simple: Page) -> None:
    assert not any("style" in attributes for _, attributes in simple.elements)


def test_a_crop_is_drawn_into_its_original(simple: Page) -> None:
    (box,) = [rect for rect in simple.named("rect") if rect.get("class") == "box"]
    assert (box["x"], box["y"], box["width"], box["height"]) == ("10", "20", "40", "30")
    assert "image_clue_0 from (10, 20) to (50, 50)" in simple.text
    assert {use["href"] for use in simple.named("use")} == {"#original-image_clue_0"}
    assert "original-image_clue_0" in [group["id"] for group in simple.named("g")]


def test_evidence_is_drawn_into_its_original(tmp_path: Path) -> None:
    *events, ended = simple_events()
    assert isinstance(ended, RunEnded)
    evidence = (Evidence("image_clue_0", (60, 70, 90, 80), is_derived=True),)
    events.append(replace(ended, outcome=replace(ended.outcome, evidence=evidence)))
    page = Page(report(recorded(tmp_path / "run", events)))
    assert [page.named("rect")[0][key] for key in ("x", "y", "width", "height")] == ["60", "70", "30", "10"]
    assert "none cited: what was looked at last" in page.text


def test_boxes_in_the_code_are_drawn_where_no_pixels_match(tmp_path: Path) -> None:
    plotted = CellRun("plt.imshow(image_clue_0.crop((1, 2, 31, 42)))", CellResult("ok"))
    page = Page(report(recorded(tmp_path, [*simple_events()[:2], plotted])))
    assert "Crops in the code: 1 box" in page.text
    (box,) = [rect for rect in page.named("rect") if rect.get("class") == "box"]
    assert (box["x"], box["y"], box["width"], box["height"]) == ("1", "2", "30", "40")


def test_a_figure_that_is_not_a_crop_has_no_place_in_the_original(tmp_path: Path) -> None:
    drawn = CellRun("plot()", CellResult("ok", (figure(Image.effect_noise((50, 40), 90).convert("RGB")),)))
    page = Page(report(recorded(tmp_path, [*simple_events()[:2], drawn])))
    assert "place in the original not found" in page.text


def test_every_link_leads_somewhere_in_the_page(simple: Page, eventful: Page) -> None:
    for page in (simple, eventful):
        ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
        assert len(ids) == len(set(ids))
        links = [str(attributes["href"]) for attributes in [*page.named("a"), *page.named("use")]]
        assert {link.removeprefix("#") for link in links} <= set(ids)


def test_every_image_has_a_text(simple: Page) -> None:
    assert all(image["alt"] for image in simple.named("img"))


def test_every_zoom_is_opened_by_a_summary(simple: Page) -> None:
    assert simple.counts()["summary"] == simple.counts()["details"]


def test_an_image_that_is_shown_twice_is_held_once(tmp_path: Path) -> None:
    began, *rest = simple_events()
    again = CellRun("display(image_clue_0)", CellResult("ok", (figure(noise()),)))
    source = report(recorded(tmp_path, [began, again, *rest]))
    whole = base64.b64encode(figure(noise()).data).decode()
    assert source.count(f'src="data:image/png;base64,{whole}"') == 2  # its thumbnail is the picture itself
    assert "the same image as before" in source


def test_sixty_large_figures_stay_under_thirty_megabytes(tmp_path: Path) -> None:
    began, asked, *_ = simple_events()
    small = figure(noise(200, 150))
    cells = []
    for number in range(60):  # bytes after the end of the file make each of them large and unique
        large = replace(small, data=small.data + os.urandom(500_000))
        cells.append(CellRun(f"show({number})", CellResult("ok", (large,))))
    source = report(recorded(tmp_path, [began, asked, *cells]))
    assert len(source.encode()) < 30_000_000
    assert Page(source).counts()["figure"] >= 60


def test_sections_out_of_sight_are_not_laid_out(simple: Page) -> None:
    assert "content-visibility: auto" in simple.source


def test_code_is_coloured(simple: Page) -> None:
    assert {"class": "nb"} in simple.named("span")


def test_a_run_that_never_ended_is_reported_as_incomplete(tmp_path: Path) -> None:
    page = Page(report(recorded(tmp_path, simple_events()[:3])))
    assert "The recording is incomplete" in page.text


def test_a_run_without_events_has_a_page(tmp_path: Path) -> None:
    assert "Nothing happened" in Page(report(recorded(tmp_path, []))).text


def test_a_remark_on_an_answer_is_not_shown_as_a_failure(tmp_path: Path) -> None:
    *events, ended = simple_events()
    assert isinstance(ended, RunEnded)
    remarked = replace(ended, outcome=Outcome("4", "answered", "best effort: search exhausted"))
    html = report(recorded(tmp_path, [*events, remarked]))
    assert re.search(r'<pre class="output"[^>]*>best effort: search exhausted</pre>', html)


def test_an_endpoint_that_failed_is_not_the_models_fault(tmp_path: Path) -> None:
    *events, ended = simple_events()
    assert isinstance(ended, RunEnded)
    failed = replace(ended, outcome=Outcome(None, "model_error", "503"))
    page = Page(report(recorded(tmp_path, [*events, failed])))
    assert "Cause: the endpoint, not the model." in page.text


def test_very_long_code_is_shown_plain(tmp_path: Path) -> None:
    began, asked, *_ = simple_events()
    ran = CellRun("x = 1\n" * 40_000, CellResult("ok", (Stream("stdout", "fine"),)))
    page = Page(report(recorded(tmp_path, [began, asked, ran])))
    assert page.counts()["span"] < 10


def test_images_of_the_question_are_shown_at_their_own_size(simple: Page) -> None:
    image = simple.named("img")[0]
    assert (image["width"], image["height"]) == ("120", "90")
    assert image["src"] == "data:image/png;base64," + base64.b64encode(figure(noise()).data).decode()


def test_the_choices_stand_below_the_question(tmp_path: Path) -> None:
    began, *rest = simple_events()
    assert isinstance(began, RunStarted)
    asked = replace(began, question=replace(began.question, choices=("grey", "<b>")))
    page = Page(report(recorded(tmp_path, (asked, *rest))))
    assert page.text.index("<b>") < page.text.index("Answered.")


def test_an_image_names_the_size_at_which_it_was_sent(tmp_path: Path) -> None:
    began, asked, *rest = simple_events()
    assert isinstance(asked, ModelCall)
    sent = replace(asked, sent=(Sent("image_clue_0", "0" * 64, 60, 45, 0.5, 0.5),))
    text = Page(report(recorded(tmp_path, (began, sent, *rest)))).text
    assert "image_clue_0 120 × 90 px · sent at 60 × 45" in text


def test_an_image_sent_as_it_is_has_one_size(simple: Page) -> None:
    assert "sent at" not in simple.text


def test_every_image_is_loaded_before_the_page_is_printed(simple: Page) -> None:
    assert simple.named("img")
    assert not any({"loading", "decoding"} & set(image) for image in simple.named("img"))


def test_the_timeline_names_the_role_of_each_reply(simple: Page) -> None:
    assert "solver: cell: ok, 1 figure" in simple.text
