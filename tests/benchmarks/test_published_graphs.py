"""The count of published graphs that are read, on texts of our own in their forms."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.published_graphs import main

TEXTS = {
    "1": '{"objects": [{"table": {"attributes": ["wooden"]}}]}',
    "2": {"kg": '{"objects": [{}]}'},
    "3": "There is a table.",
}


def test_the_share_of_graphs_is_counted_among_the_texts_like_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "graphs.json"
    file.write_text(json.dumps(TEXTS), "utf-8")
    assert main([str(file)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split()[:5] == ["all", "3", "2", "1", "50.00"]


def test_texts_with_a_repair_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "graphs.json"
    file.write_text(json.dumps(TEXTS), "utf-8")
    main([str(file), "--show", "empty"])
    assert capsys.readouterr().out.startswith('{"objects": [{}]}')
