"""The reports of single samples: written once, and linked from the experiment's page."""

from __future__ import annotations

import os
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from pyvision.bench.analysis.document import Answers, Card, Document, Section, to_markdown
from pyvision.bench.analysis.page import to_page
from pyvision.bench.analysis.read_experiment import read_results
from pyvision.bench.analysis.sample_pages import REPORT, samples_section, write_sample_pages
from pyvision.cli import main
from pyvision.trajectory import EVENTS
from tests.bench.analysis.experiments import write_experiment


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name == "href"]


def links_in(page: str) -> list[str]:
    links = Links()
    links.feed(page)
    return links.found


def call(*arguments: str | Path) -> None:
    assert main(["bench", "report", *map(str, arguments)]) == 0


def test_the_page_links_to_the_report_of_each_sample(tmp_path: Path) -> None:
    folder, page = write_experiment(tmp_path / "my run", [1, 0]), tmp_path / "pages" / "r.html"
    call(folder, "--html", page, "--samples")
    links = set(links_in(page.read_text(encoding="utf-8")))
    assert len(links) == 2
    for link in links:
        assert urlsplit(link).scheme == ""
        assert "<!doctype html>" in (page.parent / unquote(link)).read_text(encoding="utf-8").lower()


def test_without_reports_the_page_says_how_to_get_them(tmp_path: Path) -> None:
    folder, page = write_experiment(tmp_path / "x", [1, 0]), tmp_path / "r.html"
    call(folder, "--html", page)
    text = page.read_text(encoding="utf-8")
    assert links_in(text) == []
    assert "bench report DIR --samples" in text


def test_a_report_that_is_there_is_not_written_again_until_its_run_is_newer(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, [1, 0])
    assert [write_sample_pages(folder), write_sample_pages(folder)] == [2, 0]
    events = next(folder.rglob(EVENTS))
    later = events.stat().st_mtime + 60
    os.utime(events, (later, later))
    assert write_sample_pages(folder) == 1


def break_one_trajectory(folder: Path) -> Path:
    broken = next(folder.rglob(EVENTS))
    broken.write_text("no trajectory\nat all\n", encoding="utf-8")
    return broken.parent


def test_a_trajectory_that_cannot_be_read_is_named_in_one_line(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, [1, 0])
    broken = break_one_trajectory(folder)
    lines: list[str] = []
    write_sample_pages(folder, tell=lines.append)
    assert len(lines) == 1
    assert broken.name in lines[0]


def test_a_trajectory_that_cannot_be_read_does_not_stop_the_other_pages(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, [1, 0])
    break_one_trajectory(folder)
    assert write_sample_pages(folder, tell=lambda line: None) == 1


def test_a_sample_without_a_trajectory_has_no_link(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, [1, 0])
    write_sample_pages(folder)
    next(folder.rglob(REPORT)).unlink()
    section = samples_section(folder, read_results(folder), tmp_path / "r.html")
    (answers,) = section.parts
    assert isinstance(answers, Answers)
    assert sorted(card.link is None for card in answers.cards) == [False, True]


@pytest.mark.parametrize("name", ["javascript:alert(1)", 'a"b', "a&b <x>", "?q#f"])
def test_a_folder_of_any_name_is_a_link_within_the_disk(tmp_path: Path, name: str) -> None:
    folder = write_experiment(tmp_path / name, [1])
    write_sample_pages(folder)
    page = to_page(Document("t", (samples_section(folder, read_results(folder), tmp_path / "r.html"),)))
    (link,) = links_in(page)
    assert urlsplit(link).scheme == ""
    assert (tmp_path / unquote(link)).is_file()


def test_markdown_leaves_links_out() -> None:
    answers = Answers((Card("a", "right", (("answer", "b"),), "c.html"),))
    text = to_markdown(Document("t", (Section("s", (answers,)),)))
    assert "c.html" not in text
    assert "| right |      b |" in text


def test_each_failure_is_shown_with_its_whole_sample(tmp_path: Path) -> None:
    folder, page = write_experiment(tmp_path / "x", [1, 0]), tmp_path / "r.html"
    call(folder, "--html", page)
    text = page.read_text(encoding="utf-8")
    failures = text[text.index("<h2>Failures</h2>") : text.index("<h2>Accuracy</h2>")]
    assert failures.count("<article") == failures.count("data:image/jpeg") == 1
    for fact in ("How many?", "s1"):
        assert fact in failures


def test_without_wrong_answers_the_page_has_no_failures(tmp_path: Path) -> None:
    folder, page = write_experiment(tmp_path / "x", [1, 1]), tmp_path / "r.html"
    call(folder, "--html", page)
    assert "Failures" not in page.read_text(encoding="utf-8")


def test_the_reader_can_filter_the_answers_by_grade(tmp_path: Path) -> None:
    folder, page = write_experiment(tmp_path / "x", [1, 0, 0, None]), tmp_path / "r.html"
    call(folder, "--html", page)
    text = page.read_text(encoding="utf-8")
    assert [label in text for label in (" all (4) ", " wrong (2) ", " right (1) ", " unscored (1) ")] == [
        True
    ] * 4
