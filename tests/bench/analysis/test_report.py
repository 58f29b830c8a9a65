"""The report of an experiment: what it says, how wide it is, and that nothing in it can act."""

from __future__ import annotations

import io
import unicodedata
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from pyvision.bench.analysis.document import (
    Command,
    Document,
    Paragraph,
    Plot,
    Section,
    Table,
    plain,
    to_markdown,
)
from pyvision.bench.analysis.page import to_page
from pyvision.bench.analysis.plots import plot_accuracy_against
from pyvision.bench.analysis.report import (
    Subject,
    illustrate_report,
    report,
)
from pyvision.bench.analysis.statistics import Estimate
from pyvision.bench.analysis.taxonomy import PAPER_COUNTS, count_tools, paper_counts
from pyvision.bench.datasets.registry import Reference
from pyvision.bench.samples import Result
from tests.bench.analysis.records import results, run_of

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style><style>*{display:none}</style>",
    "' onmouseover='alert(1)",
    "<svg/onload=alert(1)>",
    "]]><!--",
    "![x](http://example.org/p.png)",
    "[x](javascript:alert(1))",
    "\x1b[2J\x1b]0;title\x07",
    "\u202egnp.exe",
    "a | b\n| c",
    "&lt;script&gt;",
    "```\n# title",
    "$x^2$ \\frac",
]


def rich(category: str = "scene/left") -> list[Result]:
    return [
        *(
            results(f"r{i}", 1.0, category=category, input_tokens=900, output_tokens=90, cells=2)
            for i in range(7)
        ),
        *(results(f"w{i}", 0.0, category="other", end_reason="truncated") for i in range(2)),
        results("u", None, category="other", end_reason="sandbox_error"),
    ]


def subject(text: str = "experiment") -> Subject:
    return Subject(
        title=text,
        dataset="V*",
        configuration={"model": {"name": text}, "limit": 9},
        command=f"python -m pyvision bench run {text}",
        references=(Reference(text, 75.9, "PyVision, Table 2"),),
        tools=count_tools(["image_clue_0.crop((0, 0, 5, 5))", "x = ("]),
    )


class Elements(HTMLParser):
    """Every element and attribute of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.sources: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.sources += [text or "" for name, text in attrs if name in ("src", "href")]


def elements(page: str) -> Elements:
    found = Elements()
    found.feed(page)
    return found


def columns(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in line)


def rich_text() -> str:
    return to_markdown(report(rich(), subject()))


def test_a_report_gives_n_beside_every_accuracy() -> None:
    assert "| all        | 10 |        1 |       77.8 |  [45.3, 93.7] |" in rich_text()


def test_a_report_gives_the_bounds_that_unscored_samples_allow() -> None:
    expected = "between 70.0 (if they were all wrong) and 80.0 (if all right)"
    assert expected in " ".join(rich_text().split())


def test_a_report_says_why_samples_are_unscored() -> None:
    assert "sandbox_error" in rich_text()


def test_a_report_counts_truncated_answers_apart_from_refused_ones() -> None:
    assert "Truncated: 2. Refused: 0." in rich_text()


def test_a_report_counts_answers_with_a_remark() -> None:
    best = results("a", 1.0, error="best effort: search exhausted")
    text = " ".join(to_markdown(report([best, results("b", 1.0)], subject())).split())
    assert "1 of 2 answers carry a remark" in text
    assert "with a remark" not in to_markdown(report([results("b", 1.0)], subject()))


def test_published_numbers_stand_beside_ours_with_their_source() -> None:
    text = to_markdown(report(rich(), subject("GPT-4.1")))
    assert "75.9" in text
    assert "PyVision, Table 2" in text


def test_tools_stand_beside_the_papers_share() -> None:
    text = to_markdown(report(rich(), subject()))
    assert "83.4" in text  # V*, basic image processing, Figure 9 of the paper
    assert "Figure 9" in text


def test_the_papers_percentages_come_out_of_its_counts() -> None:
    shares = {name: round(100 * counts.share("basic"), 1) for name, counts in PAPER_COUNTS.items()}
    # arXiv 2507.07998, Figure 9
    assert shares == {
        "mathvision": 26.0, "mathvista": 20.2, "mmmu": 16.5,
        "visualpuzzles": 44.1, "vlmsareblind": 7.9, "vstar": 83.4,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("V*", "vstar"),
        ("vstar", "vstar"),
        ("MMMU-val", "mmmu"),
        ("mathvista_testmini", "mathvista"),
        ("blind-mini", "vlmsareblind"),
        ("gqa", ""),
    ],
)
def test_the_papers_counts_are_found_by_the_datasets_name(name: str, known: str) -> None:
    assert paper_counts(name) == PAPER_COUNTS.get(known)


def test_the_command_to_run_it_again_is_in_the_report() -> None:
    assert "python -m pyvision bench run vstar" in to_markdown(report(rich(), subject("vstar")))


def test_an_empty_experiment_has_a_report_too() -> None:
    assert "| all" in to_markdown(report([], Subject("nothing")))
    assert "<main" in to_page(illustrate_report([], Subject("nothing")))


def test_a_command_in_a_remark_is_code() -> None:
    page = to_page(Document("t", (Section("s", (Paragraph("`a <b>` writes a lone ` too."),)),)))
    assert "<p><code>a &lt;b&gt;</code> writes a lone ` too.</p>" in page


@pytest.mark.parametrize("long", ["a/very" * 30, "类别" * 40, "x" * 300, "ä-ö " * 50])
def test_markdown_stays_within_80_columns(long: str) -> None:
    text = to_markdown(report(rich(long), Subject(long, references=(Reference("m", 1.0, "s"),))))
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert tables
    assert max(map(columns, tables)) <= 80


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_in_the_data_becomes_an_element_or_an_attribute(text: str) -> None:
    usual = elements(to_page(report(rich(), subject())))
    hostile = elements(to_page(report(rich(text), subject(text))))
    assert hostile.tags == usual.tags
    assert hostile.attributes == usual.attributes
    assert "script" not in hostile.tags


def hostile_markdown(text: str) -> str:
    return to_markdown(report(rich(text), subject(text)))


def outside_the_fence(text: str) -> str:
    """The report without its command, which stands in a fence and is shown as it is."""
    return hostile_markdown(text).replace(f"python -m pyvision bench run {plain(text)}", "")


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_contains_no_html_element(text: str) -> None:
    assert "<" not in outside_the_fence(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_contains_no_link(text: str) -> None:
    assert "](" not in outside_the_fence(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_contains_no_control_character(text: str) -> None:
    found = hostile_markdown(text)
    assert "\x1b" not in found
    assert "\u202e" not in found


@given(st.text())
def test_a_line_of_any_text_is_one_line_without_control_characters(text: str) -> None:
    found = plain(text)
    assert "\n" not in found
    assert all(unicodedata.category(letter) != "Cc" for letter in found)
    found.encode()


def test_the_page_may_load_nothing_from_elsewhere() -> None:
    page = to_page(Document("t", (Section("s", (Paragraph("p"), Command("c"), Table(("a",), (("b",),)))),)))
    assert "default-src 'none'; img-src data:; style-src 'sha256-" in page
    assert "http:" not in page
    assert "https:" not in page


def test_hostile_names_in_plots_are_pixels() -> None:
    rows = [row for text in HOSTILE for row in rich(text)]
    found = elements(to_page(illustrate_report(rows, subject(HOSTILE[0]))))
    assert len(found.sources) == 2
    assert all(source.startswith("data:image/png;base64,") for source in found.sources)


@pytest.fixture(scope="module")
def illustrated() -> Document:
    return illustrate_report(rich("a $ 类别"), subject())


def test_an_illustrated_report_has_a_plot_of_accuracy_before_one_of_tools(illustrated: Document) -> None:
    assert [plot.name for plot in illustrated.plots] == ["Accuracy", "Tools"]


def test_every_plot_is_an_image_800_pixels_wide(illustrated: Document) -> None:
    assert {Image.open(io.BytesIO(plot.png)).size[0] for plot in illustrated.plots} == {800}


def test_plots_leave_no_trace_in_markdown(illustrated: Document) -> None:
    assert to_markdown(illustrated) == to_markdown(report(rich("a $ 类别"), subject()))


def test_accuracy_against_cost_is_an_image() -> None:
    points = {"a $b$": (0.1, Estimate(0.5, 0.4, 0.6, 9)), "b": (0.2, Estimate(0.7, 0.6, 0.8, 9))}
    plot = Plot("cost", *plot_accuracy_against("cost of a sample", points), "accuracy against cost")
    assert Image.open(io.BytesIO(plot.png)).format == "PNG"


def test_repeats_are_explained() -> None:
    found = to_markdown(report([*run_of([1, 0]), *run_of([1, 1], repeat=1)], Subject("r")))
    assert "answered up to 2 times" in found
