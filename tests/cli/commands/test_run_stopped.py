from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.cli.running import ANSWER, pyvision, run_arguments, scripted
from tests.sandbox.processes import alive, descendants, name_of, wait_until


def test_ctrl_c_in_mid_cell_leaves_a_whole_trajectory_without_processes(tmp_path: Path, photo: Path) -> None:
    named = "import ctypes, time\nctypes.CDLL(None).prctl(15, b'in-the-cell')\ntime.sleep(600)"  # PR_SET_NAME
    config = scripted(tmp_path, f"<code>\n```python\n{named}\n```\n", ANSWER)
    command = [sys.executable, "-m", "pyvision", *run_arguments(photo, config)]
    err = tmp_path / "err"
    with err.open("wb") as stderr:
        run = subprocess.Popen(
            [*command, "--out", "out", "--cell-timeout", "60"], cwd=tmp_path, stderr=stderr
        )
    try:
        assert wait_until(lambda: "in-the-cell" in map(name_of, descendants(run.pid))), err.read_text()
        children = descendants(run.pid)
        run.send_signal(signal.SIGINT)
        run.wait(timeout=20)
    finally:
        run.kill()
    assert run.returncode == 130, err.read_text()
    assert not [
        line for line in err.read_text("utf-8").splitlines() if line.startswith("Traceback")
    ]  # that of the cell is indented
    assert wait_until(lambda: not alive(children))
    events = [
        json.loads(line) for line in (tmp_path / "out" / "events.jsonl").read_text("utf-8").splitlines()
    ]
    assert events[-1]["kind"] == "ended"
    assert json.loads((tmp_path / "out" / "summary.json").read_text("utf-8"))["end_reason"] == "interrupted"


def test_a_run_stopped_while_it_starts_prints_no_traceback(tmp_path: Path, photo: Path) -> None:
    config = scripted(tmp_path, ANSWER)
    command = [sys.executable, "-m", "pyvision", "run", "--image", str(photo), "--question", "?"]
    for delay_s in (0.12, 0.16, 0.2, 0.3):
        run = subprocess.Popen(
            [*command, "--config", config], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        time.sleep(delay_s)
        run.send_signal(signal.SIGTERM)
        _, err = run.communicate(timeout=20)
        # Before our handler is there, the signal itself ends the process; after the answer it comes too late; and
        # Python ends by SIGINT, which a shell shows as 130, when the interrupt passed through an import.
        assert run.returncode in (130, -signal.SIGINT, -signal.SIGTERM, 0), err
        assert b"Traceback" not in err
        assert b"a bug" not in err


def run_with_panic(tmp_path: Path, photo: Path, before: str) -> subprocess.CompletedProcess[str]:
    """A run that imports a library which does this, then panics."""
    library = tmp_path / "path" / "pydantic"
    library.mkdir(parents=True)
    (library / "__init__.py").write_text(
        "import os, signal\n"
        "class Panic(BaseException): ...\n"  # as those of Rust are
        f"try: {before}\n"
        "except KeyboardInterrupt: pass\n"
        "raise Panic('in an import')\n"
    )
    arguments = run_arguments(photo, scripted(tmp_path, ANSWER))
    return pyvision(*arguments, cwd=tmp_path, PYTHONPATH=str(tmp_path / "path"))


def test_a_panic_of_a_library_is_one_line(tmp_path: Path, photo: Path) -> None:
    run = run_with_panic(tmp_path, photo, "pass")
    assert run.returncode == 1
    assert run.stderr.startswith("pyvision: a bug in pyvision: Panic: in an import")
    assert run.stderr.count("\n") == 1


def test_an_interrupt_within_a_library_is_an_interrupt(tmp_path: Path, photo: Path) -> None:
    run = run_with_panic(tmp_path, photo, "os.kill(os.getpid(), signal.SIGTERM)")
    assert run.returncode == 130
    assert run.stderr.startswith("pyvision: interrupted")
    assert run.stderr.count("\n") == 1
