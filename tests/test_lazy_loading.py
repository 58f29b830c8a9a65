"""What is chosen by name is imported when it is chosen, and nothing else of its kind is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

RUN = """
from pyvision.cli import main, progress
from pyvision.cli.commands import run
from pyvision.solve import prepare
from pyvision.trajectory import TrajectoryWriter
prepare("How many?", strategy="code_loop", model="offline")
"""
READ = """
from pathlib import Path
from pyvision.bench.datasets.readers import open_samples
Path("rows.jsonl").write_text('{"question": "?", "target": "1", "images": []}')
open_samples("rows.jsonl")
"""


def loaded(program: str, package: str, folder: Path) -> set[str]:
    """The modules and packages directly below a package that a program loads."""
    displayed = f"{program}\nimport sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", displayed], capture_output=True, text=True, check=True, timeout=60, cwd=folder
    )
    below = package.count(".") + 2
    return {
        ".".join(module.split(".")[:below])
        for module in done.stdout.split()
        if module.startswith(f"{package}.")
    }


def test_a_question_for_the_code_loop_loads_no_other_strategy(tmp_path: Path) -> None:
    package = "pyvision.strategies"
    assert loaded(RUN, package, tmp_path) == {f"{package}.code_loop"}


def test_a_metric_loads_no_other_family_of_metrics(tmp_path: Path) -> None:
    found = loaded(
        "from pyvision.bench.metrics import find_metric; find_metric('yes_no')",
        "pyvision.bench.metrics",
        tmp_path,
    )
    assert not found & {f"pyvision.bench.metrics.{other}" for other in ("choice", "mmmu", "boxes", "blind")}


def test_a_reader_loads_no_reader_of_another_form(tmp_path: Path) -> None:
    found = loaded(READ, "pyvision.bench.datasets", tmp_path)
    assert not found & {f"pyvision.bench.datasets.{other}" for other in ("vlmevalkit", "hugging_face")}


def test_the_table_of_export_formats_loads_no_exporter(tmp_path: Path) -> None:
    found = loaded("import pyvision.runs.export", "pyvision.runs.export", tmp_path)
    assert found == {"pyvision.runs.export.formats"}


def test_a_question_without_tools_loads_no_tool(tmp_path: Path) -> None:
    package = "pyvision.tools"
    assert loaded(RUN, package, tmp_path) <= {f"{package}.registry"}


def test_a_question_loads_nothing_for_options_that_are_off(tmp_path: Path) -> None:
    found = loaded(RUN, "pyvision.agent", tmp_path)
    assert "pyvision.agent.episode" in found
    assert not found & {f"pyvision.agent.{other}" for other in ("evidence", "tool_cache")}


def test_importing_the_sandbox_loads_nothing_for_host_functions_or_traces(tmp_path: Path) -> None:
    found = loaded("import sandbox", "sandbox.protocol", tmp_path)
    assert not found & {f"sandbox.protocol.{other}" for other in ("rpc", "values", "trace", "jpeg")}


def test_importing_the_sandbox_loads_no_watchdog_of_memory(tmp_path: Path) -> None:
    found = loaded("import sandbox", "sandbox.isolation", tmp_path)
    assert "sandbox.isolation.cgroup" in found
    assert not found & {
        f"sandbox.isolation.{other}" for other in ("memory", "unowned_memory", "process_tree")
    }
