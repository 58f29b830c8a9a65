"""The samples of an experiment in its report: failures with their images, all answers, and a page for each sample."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from pyvision.bench.analysis.document import Answers, Card, Gallery, Grade, Paragraph, Section
from pyvision.bench.samples import Result
from pyvision.bench.store import Store
from pyvision.errors import ImageError, PyVisionError
from pyvision.images import read as image_reader
from pyvision.images.pixels import thumbnail
from pyvision.trajectory import EVENTS

REPORT = "report.html"
_MAX_FAILURES = 8
_MAX_THUMBNAILS = 500
_THUMBNAIL_PX = 200
_FACT_CHARS = 160
Watch = Callable[[int, int], None]


def write_sample_pages(
    folder: Path,
    *,
    watch: Watch = lambda done, total: None,
    tell: Callable[[str], None] = lambda line: None,
) -> int:
    """Write the report of every record with a trajectory, unless it has an up-to-date one.

    Returns how many were written; `tell` gets a line for each trajectory that cannot be read. Raises RunFolderError if
    a report cannot be written.
    """
    from pyvision.config.files import write_file
    from pyvision.runs.report import report as run_report
    from pyvision.runs.run import read_run

    with Store(folder) as store:
        runs = [store.run_folder(record.sample_id, record.repeat) for record in store.records()]
    stale = [run for run in runs if run is not None and not _is_current(run)]
    written = 0
    for done, run in enumerate(stale, 1):
        try:
            page = run_report(read_run(run)).encode()
        except PyVisionError as error:
            tell(f"no report for {run.name}: {error}")
        else:
            write_file(run / REPORT, page)
            written += 1
        watch(done, len(stale))
    return written


def samples_section(folder: Path, results: Sequence[Result], page: Path) -> Section:
    """Every record, with its first image and a link to its report if there is one.

    page: the file that will hold the links.
    """
    cards = tuple(_cards(folder, sorted(results, key=_order), page))
    if any(card.link for card in cards):
        return Section("Samples", (Answers(cards),))
    remark = "`bench report DIR --samples` writes a report for each sample and links to it here."
    return Section("Samples", (Paragraph(remark), Answers(cards)))


def failures_section(folder: Path, results: Sequence[Result], page: Path) -> Section | None:
    """The first wrong answers beside their images; None without any."""
    wrong = sorted((each for each in results if _grade(each) == "wrong"), key=_order)
    if not wrong:
        return None
    cards = tuple(_failure_cards(folder, wrong[:_MAX_FAILURES], page))
    more = f"The first {len(cards)} of {len(wrong):,} wrong answers; all are listed below."
    parts = (Paragraph(more), Gallery(cards)) if len(wrong) > len(cards) else (Gallery(cards),)
    return Section("Failures", parts)


def _order(result: Result) -> tuple[list[tuple[int, str]], int]:
    """By id with its numbers as numbers, so that sample 10 comes after sample 9; then by repeat."""
    parts = re.findall(r"\d+|\D+", result.record.sample_id)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts], result.record.repeat


def _cards(folder: Path, results: Sequence[Result], page: Path) -> Iterator[Card]:
    with Store(folder) as store:
        samples = {sample.id: sample for sample in store.samples()}
        thumbnails: dict[bytes | Path, bytes] = {}
        for at, each in enumerate(results):
            record = each.record
            sample = samples.get(record.sample_id)
            image = sample.images[0] if sample and sample.images and at < _MAX_THUMBNAILS else None
            if image is not None and image not in thumbnails:
                thumbnails[image] = _thumbnail(image)
            yield Card(
                record.sample_id,
                _grade(each),
                _facts(each),
                _link(store.run_folder(record.sample_id, record.repeat), page),
                thumbnails[image] if image is not None else b"",
            )


def _failure_cards(folder: Path, results: Sequence[Result], page: Path) -> Iterator[Card]:
    with Store(folder) as store:
        samples = {sample.id: sample for sample in store.samples()}
    for card, each in zip(_cards(folder, results, page), results, strict=True):
        sample = samples.get(each.record.sample_id)
        facts = (
            ("question", _shorten(sample.text) if sample else ""),
            ("expected", _shorten(str(sample.target)) if sample else ""),
            ("answered", _shorten(each.record.answer or each.record.end_reason)),
        )
        yield replace(card, facts=facts)


def _facts(result: Result) -> tuple[tuple[str, str], ...]:
    record, value = result.record, result.value
    return (
        ("repeat", str(record.repeat)),
        ("score", "–" if value is None else f"{value:g}"),
        ("answer", _shorten(record.answer or "–")),
        ("end", record.end_reason),
        ("cells", str(record.cells)),
    )


def _grade(result: Result) -> Grade:
    if result.value is None:
        return "unscored"
    return "right" if result.value >= 1 else "wrong"


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _FACT_CHARS else f"{line[: _FACT_CHARS - 1]}…"


def _thumbnail(image: bytes | Path) -> bytes:
    """A small JPEG; empty if the image cannot be read, as the sample's own record says."""
    try:
        read = (
            image_reader.decode(image, "of a sample")
            if isinstance(image, bytes)
            else image_reader.read(image)
        )
        return thumbnail(read, _THUMBNAIL_PX)
    except ImageError:
        return b""


def _is_current(run: Path) -> bool:
    page = run / REPORT
    return page.is_file() and page.stat().st_mtime >= (run / EVENTS).stat().st_mtime


def _link(run: Path | None, page: Path) -> str | None:
    """A relative link, so that page and folder can move together; quoted, so that it cannot have a scheme."""
    if run is None or not (run / REPORT).is_file():
        return None
    return quote(Path(os.path.relpath((run / REPORT).resolve(), page.resolve().parent)).as_posix())
