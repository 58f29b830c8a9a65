from __future__ import annotations

from pathlib import Path

from benchmarks.first_answer import downloaded_bytes

LOG = """\
2026-11-22T19:41:14   Downloading httpx2-2.0.0-py3-none-any.whl.metadata (6.1 kB)
2026-11-22T19:41:15   Using cached idna-3.10-py3-none-any.whl (70 kB)
2026-11-22T19:41:15   Downloading opencv_python_headless-5.0-cp311-manylinux.whl (50.0 MB)
2026-11-22T19:41:16   Downloading tiny-1.0-py3-none-any.whl (512 bytes)
"""


def test_only_what_was_downloaded_counts(tmp_path: Path) -> None:
    log = tmp_path / "pip.log"
    log.write_text(LOG, encoding="utf-8")
    assert downloaded_bytes(log) == 50_006_612
