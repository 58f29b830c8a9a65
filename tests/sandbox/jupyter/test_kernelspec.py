"""The kernel as Jupyter knows it: installed and removed, and what Jupyter's own test suite and tools say of it."""

# jupyter_kernel_test is untyped, nbformat in part
# mypy: disable-error-code="import-untyped,misc,no-untyped-call"

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jupyter_kernel_test
import pytest

from sandbox.jupyter.kernelspec import install, kernel_json, policy_from
from tests.sandbox.jupyter.notebooks import arguments, installed


@pytest.fixture(scope="module", autouse=True)
def place() -> Iterator[Path]:
    with installed() as folder:
        yield folder


class _Patient:
    """A channel that waits for a message longer than the suite asks it to: other tests keep this machine busy."""

    def __init__(self, channel: Any) -> None:
        self._channel = channel

    def get_msg(self, timeout: float) -> Any:
        return self._channel.get_msg(timeout=max(timeout, 10))


class TestConformance(jupyter_kernel_test.KernelTests):
    """Of Jupyter's own."""

    kernel_name = "sandbox"
    language_name = "python"
    file_extension = ".py"
    code_hello_world = "print('hello, world')"
    code_stderr = "import sys; print('test', file=sys.stderr)"
    completion_samples = ({"text": "zi", "matches": {"zip"}},)
    complete_code_samples = ("1", "print('hello')", "def f(x):\n  return x*2\n\n\n")
    incomplete_code_samples = ("print('''hello", "def f(x):\n  x*2")
    invalid_code_samples = ("import = 7q",)
    code_page_something = "print?"
    code_generate_error = "raise ValueError"
    code_execute_result = ({"code": "6*7", "result": "42"},)
    code_display_data = (
        {"code": "from IPython.display import HTML, display; display(HTML('<b>a</b>'))", "mime": "text/html"},
        {"code": "from IPython.display import Math, display; display(Math('a'))", "mime": "text/latex"},
    )
    code_inspect_sample = "zip"
    supported_history_operations = ("tail", "range", "search")
    code_history_pattern = "6*7"
    code_clear_output = "from IPython.display import clear_output; clear_output()"

    def execute_helper(self, *samples: Any, **options: Any) -> Any:
        hasty = self.kc._iopub_channel
        self.kc._iopub_channel = _Patient(hasty)
        try:
            return super().execute_helper(*samples, **options)
        finally:
            self.kc._iopub_channel = hasty


@pytest.mark.slow
def test_jupyter_nbconvert_executes_a_notebook_in_it(place: Path) -> None:
    import nbformat

    cells = [nbformat.v4.new_code_cell(code) for code in ("import socket", "socket.gethostname()")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), place / "a.ipynb")
    command = [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute"]
    command += ["--ExecutePreprocessor.kernel_name=sandbox", "--output", "b.ipynb", str(place / "a.ipynb")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    executed = nbformat.read(place / "b.ipynb", as_version=4)
    assert executed.cells[1].outputs[0]["data"]["text/plain"] == "'container'"


def test_what_is_installed_can_be_removed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "share/jupyter/kernels/walled"
    assert install(arguments("--prefix", str(tmp_path), "--name", "walled")) == 0
    assert json.loads((folder / "kernel.json").read_text())["display_name"] == "Python (sandboxed)"
    assert install(arguments("--prefix", str(tmp_path), "--name", "walled", "--remove")) == 0
    assert not folder.exists()
    assert capsys.readouterr().out == f"installed {folder}\nremoved {folder}\n"


def test_the_policy_is_written_down_field_by_field(tmp_path: Path) -> None:
    settings = (
        "--set",
        "memory_bytes=1000000000",
        "--set",
        'preload=["scipy"]',
        "--set",
        "python=/opt/python",
    )
    assert install(arguments("--prefix", str(tmp_path), *settings)) == 0
    specification = json.loads((tmp_path / "share/jupyter/kernels/sandbox/kernel.json").read_text())
    policy = specification["metadata"]["kernel_provisioner"]["config"]["policy"]
    assert policy_from(policy).memory_bytes == 1_000_000_000
    assert policy_from(policy).preload == ("scipy",)
    assert policy_from(policy).python == "/opt/python"


def test_its_cells_run_in_the_python_that_installed_it() -> None:
    config = kernel_json("a", {})["metadata"]["kernel_provisioner"]["config"]
    assert config["policy"] == {"python": sys.executable}


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("memory=1", "unknown field 'memory' of Policy"),
        ("processes=many", "Policy.processes is 'many'"),
        ("processes", "write KEY=VALUE"),
        ("memory_bytes=1", "Policy.memory_bytes: 1 is out of range"),
    ],
)
def test_an_invalid_policy_is_refused_in_one_line(
    setting: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert install(arguments("--prefix", str(tmp_path), "--set", setting)) == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert errors.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("action", [(), ("--remove",)])
def test_the_kernel_of_another_package_is_left_alone(action: tuple[str, ...], tmp_path: Path) -> None:
    other = tmp_path / "share/jupyter/kernels/python3/kernel.json"
    other.parent.mkdir(parents=True)
    other.write_text('{"argv": [], "metadata": {}}')
    assert install(arguments("--prefix", str(tmp_path), "--name", "python3", *action)) == 2
    assert other.read_text() == '{"argv": [], "metadata": {}}'


@pytest.mark.parametrize("name", ["../a", "..", "a/b", ""])
def test_a_name_that_leads_elsewhere_is_refused(name: str, tmp_path: Path) -> None:
    assert install(arguments("--prefix", str(tmp_path), "--name", name)) == 2
    assert list(tmp_path.iterdir()) == []


def test_a_client_without_provisioners_gets_a_message() -> None:
    argv = kernel_json("a", {})["argv"]
    done = subprocess.run(argv, env={**os.environ}, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "needs jupyter_client 7 or newer" in done.stderr
