from __future__ import annotations

import pytest

from benchmarks.index import CHANGES, main


def test_the_benchmark_finds_unchanged_images_again(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--documents", "20", "--pictures", "2", "--queries", "2"])
    lines = capsys.readouterr().out.splitlines()
    rows = [line for line in lines if line.startswith("  none")]
    assert [row.split()[-3:] for row in rows] == [["1.000"] * 3] * 2
    assert sum(line.strip().startswith(tuple(CHANGES)) for line in lines) == 2 * len(CHANGES)
