from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from pyvision.tools.retrieval.search import Index
from tests.tools.retrieval.collection import add_quietly

needs_pypdf = pytest.mark.skipif(find_spec("pypdf") is None, reason="pypdf is not installed")


def pdf(*pages: str) -> bytes:
    """A document with one line of text on each page."""
    kids = " ".join(f"{3 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} /MediaBox [0 0 300 300] /Resources "
        "<< /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
    ]
    for number, text in enumerate(pages):
        stream = f"BT /F 12 Tf 20 200 Td ({text}) Tj ET"
        objects.append(f"<< /Type /Page /Parent 2 0 R /Contents {4 + 2 * number} 0 R >>")
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    data, places = "%PDF-1.4\n", list[int]()
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n"
    rows = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    table = f"xref\n0 {size}\n0000000000 65535 f \n{rows}trailer << /Size {size} /Root 1 0 R >>"
    return f"{data}{table}\nstartxref\n{len(data)}\n%%EOF\n".encode()


def lines_about_skipped(folder: Path) -> list[str]:
    lines = list[str]()
    add_quietly(folder / "index.sqlite", folder / "guide.pdf", report=lines.append)
    return lines


@needs_pypdf
def test_a_document_is_found_by_its_pages(tmp_path: Path) -> None:
    (tmp_path / "guide.pdf").write_bytes(pdf("Zebras graze.", "Owls hunt."))
    assert lines_about_skipped(tmp_path) == []
    (hit,) = Index(tmp_path / "index.sqlite").documents("owls")
    assert (hit.title, hit.text) == ("guide, page 2", "Owls hunt.")


@needs_pypdf
@pytest.mark.parametrize("data", [b"", b"%PDF-1.4 and no more", b"no document", pdf("Zebras.")[:150]])
def test_a_broken_document_is_skipped_with_one_line(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "guide.pdf").write_bytes(data)
    (line,) = lines_about_skipped(tmp_path)
    assert "cannot be read as PDF" in line


@pytest.mark.skipif(find_spec("pypdf") is not None, reason="pypdf is installed")
def test_without_pypdf_the_line_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "guide.pdf").write_bytes(pdf("Zebras graze."))
    (line,) = lines_about_skipped(tmp_path)
    assert "pip install 'pyvision-agent[pdf]'" in line
