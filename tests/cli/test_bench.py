from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pyvision.bench.store import Store
from pyvision.cli import main
from pyvision.cli.bench.run import output_on_stderr
from tests.cli.conftest import Command, Done
from tests.cli.running import scripted
from tests.doubles import png
from tests.sandbox.processes import wait_until
from tests.servers.chat import Answer, ChatServer, completion, failure

READY = "ready"  # to the canary


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Six samples with the answer A."""
    (tmp_path / "photo.png").write_bytes(png(64, 48, "navy"))
    path = tmp_path / "data.jsonl"
    sample = {"question": "Which?", "images": ["photo.png"], "target": "A", "choices": ["one", "two"]}
    path.write_text("".join(json.dumps({"id": f"s{i}", **sample}) + "\n" for i in range(6)), encoding="utf-8")
    return path


def bench(data: Path, *more: str) -> list[str]:
    out = str(data.parent / "out")
    common = ["--strategy", "direct", "--out", out, "--metric", "choice:exact", "--workers", "1"]
    return ["bench", "run", str(data), *common, *more]


def start(server: ChatServer, *arguments: str) -> subprocess.Popen[str]:
    known = {key: os.environ[key] for key in ("PATH", "HOME", "PYVISION_CONFIG") if key in os.environ}
    return subprocess.Popen(
        [sys.executable, "-m", "pyvision", *arguments, "--model", "vllm:m"],
        env=known | {"PYVISION_BASE_URL": server.base_url},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_result_is_one_line_on_standard_output(data: Path, capfd: pytest.CaptureFixture[str]) -> None:
    replies = [*["\\boxed{A}"] * 5, "\\boxed{B}"]
    assert main(bench(data, "--config", scripted(data.parent, *replies))) == 0
    printed_lines = capfd.readouterr()
    assert printed_lines.out.startswith(
        "0.8333 over 6 by choice:exact · unscored: none · without a cell: 6 · "
    )
    assert printed_lines.out.count("\n") == 1
    assert "6 of 6" in printed_lines.err
    assert "\x1b" not in printed_lines.err


def test_json_is_one_object(data: Path, capfd: pytest.CaptureFixture[str]) -> None:
    config = scripted(data.parent, *["\\boxed{A}"] * 6)
    assert main(bench(data, "--config", config, "--json", "--limit", "2", "--repeat", "2")) == 0
    found = json.loads(capfd.readouterr().out)
    assert (found["done"], found["total"], found["accuracy"], found["unscored"]) == (4, 4, 1.0, {})


def test_what_others_print_during_a_run_goes_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    with output_on_stderr():
        subprocess.run(["echo", "a process that Ray started"], check=True)
        os.write(1, b"a library\n")
    os.write(1, b"{}\n")
    assert capfd.readouterr() == ("{}\n", "a process that Ray started\na library\n")


@pytest.fixture
def one_failed(data: Path, capfd: pytest.CaptureFixture[str]) -> Done:
    """A run whose model has five replies for six samples."""
    code = main(bench(data, "--config", scripted(data.parent, *["\\boxed{A}"] * 5)))
    return Done(code, *capfd.readouterr())


def test_a_failure_has_a_line(one_failed: Done) -> None:
    line = "s5 (0): model_error: scripted: the script of 5 replies is used up"
    assert line in one_failed.stderr
    assert "unscored: model_error 1" in one_failed.stdout


def test_too_many_failures_are_exit_code_3(one_failed: Done) -> None:
    assert one_failed.returncode == 3


@pytest.mark.usefixtures("one_failed")
def test_the_same_command_asks_again_what_failed(data: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(bench(data, "--config", scripted(data.parent, *["\\boxed{A}"] * 5))) == 0
    assert "1.0000 over 6" in capfd.readouterr().out


MISSING_TOOLS = {
    "unknown": (
        ["--set", "tools=crystal_ball"],
        "no provider is set for the tool 'crystal_ball'; choose one: --tool",
    ),
    "no index": (["--set", "tools=document", "--tool", "document=index:no/such"], "there is no index '/"),
}


def run_without_tool(data: Path, case: str) -> int:
    config = scripted(data.parent, *["\\boxed{A}"] * 6)
    return main(bench(data, "--config", config, "--strategy", "code_loop", *MISSING_TOOLS[case][0]))


@pytest.mark.parametrize("case", MISSING_TOOLS)
def test_an_unknown_tool_is_a_one_line_error(
    data: Path, capfd: pytest.CaptureFixture[str], case: str
) -> None:
    assert run_without_tool(data, case) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert MISSING_TOOLS[case][1] in line


@pytest.mark.parametrize("case", MISSING_TOOLS)
def test_an_unknown_tool_leaves_no_folder(data: Path, case: str) -> None:
    assert run_without_tool(data, case) == 2
    assert not (data.parent / "out").exists()


def test_a_changed_configuration_is_one_line_that_shows_what_changed(
    data: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    config = scripted(data.parent, *["\\boxed{A}"] * 9)
    assert main(bench(data, "--config", config)) == 0
    capfd.readouterr()
    assert main(bench(data, "--config", config, "--limit", "3", "--max-turns", "4")) == 2
    message = capfd.readouterr().err.splitlines()[-1]
    assert "another configuration (limit: null -> 3; limits.max_turns: 20 -> 4)" in message


def test_without_a_folder_the_same_command_resumes_the_same_run(
    data: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(data.parent)
    config = scripted(data.parent, *["\\boxed{A}"] * 6)
    command = [
        "bench",
        "run",
        str(data),
        "--strategy",
        "direct",
        "--config",
        config,
        "--metric",
        "choice:exact",
    ]
    assert main(command) == 0
    assert main(command) == 0
    (folder,) = (data.parent / "runs" / "bench").iterdir()
    assert folder.name.startswith("data-direct-scripted-")
    assert capfd.readouterr().out.count("1.0000 over 6") == 2


SECRET = "sk-very-secret-0123456789"


@pytest.fixture
def refused(data: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> Done:
    """A run whose key is refused after the first sample, in words that repeat it."""
    monkeypatch.setenv("PYVISION_API_KEY", SECRET)
    refusal = failure(401, f"Incorrect API key provided: {SECRET}")
    with ChatServer([READY, "\\boxed{A}", *[refusal] * 9]) as server:
        monkeypatch.setenv("PYVISION_BASE_URL", server.base_url)
        return command(*bench(data), "--model", "vllm:m")


def test_a_key_that_is_refused_ends_the_run_with_exit_4(refused: Done) -> None:
    assert (refused.returncode, refused.stdout) == (4, "")
    assert "401" in refused.stderr.splitlines()[-1]


@pytest.mark.usefixtures("refused")
def test_what_was_answered_before_a_key_is_refused_is_kept(data: Path) -> None:
    with Store(data.parent / "out") as store:
        assert [record.end_reason for record in store.records()][:1] == ["answered"]


def test_a_refused_key_is_not_stored(data: Path, refused: Done) -> None:
    assert "sk-very-secret" not in refused.stderr
    files = [path for path in (data.parent / "out").rglob("*") if path.is_file()]
    assert files
    assert not any(b"sk-very-secret" in path.read_bytes() for path in files)


def test_a_dead_endpoint_refuses_to_start(
    data: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ChatServer([failure(404, "no such model")]) as server:
        monkeypatch.setenv("PYVISION_BASE_URL", server.base_url)
        done = command(*bench(data), "--model", "vllm:m")
    assert (done.returncode, done.stdout) == (4, "")
    assert len(server.requests) == 1
    assert "no such model" in done.stderr.splitlines()[-1]


@pytest.fixture
def hangup() -> Iterator[None]:
    """A process that `nohup` started ignores SIGHUP, and so do those that it starts."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hangup")
@pytest.mark.parametrize(
    "number",
    [
        signal.SIGINT,
        *(pytest.param(each, marks=pytest.mark.slow) for each in (signal.SIGTERM, signal.SIGHUP)),
    ],
)
def test_the_same_command_resumes_what_a_signal_ended(data: Path, number: int) -> None:
    noticed = threading.Event()
    held = Answer(completion("\\boxed{A}").body, until=noticed)
    with ChatServer([READY, *[held] * 20]) as server:
        with start(server, *bench(data)) as process:
            assert process.stderr is not None
            assert wait_until(lambda: len(server.requests) == 2)
            process.send_signal(number)
            message = next(line for line in process.stderr if "no new samples" in line)
            noticed.set()
            message += process.stderr.read()
        assert process.returncode == 130
        assert message.splitlines()[-1] == "pyvision: interrupted; run the same command to resume"
        with Store(data.parent / "out") as store:
            assert len(list(store.records())) == 1
        again = start(server, *bench(data))
        again.communicate(timeout=60)
        assert again.returncode == 0
        assert len(server.requests) == 2 + 6


def wrong(*arguments: str) -> list[str]:
    return ["bench", *arguments]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (wrong("run", "nowhere.jsonl"), "nowhere.jsonl"),
        (wrong("grade", "nowhere"), "holds no experiment"),
        (wrong("export", "nowhere", "--to", "xlsx"), "known formats are csv"),
        (wrong("run", "{data}", "--engine", "slurm", "--model", "offline"), "known engines are threads, ray"),
        (wrong("run", "{data}", "--metric", "luck"), "unknown metric 'luck'"),
        (wrong("run", "{data}", "--set", "rounds"), "is not KEY=VALUE"),
        (
            wrong("run", "{data}", "--model", "offline", "--set", "prompt_file=missing"),
            "missing: the prompt file cannot be read",
        ),
        (wrong("run", "{data}", "--model", "offline", "--workers", "1000000000"), "use --workers "),
        (wrong("recover", "nowhere"), "holds no experiment"),
    ],
)
def test_what_cannot_be_used_is_one_line(
    data: Path,
    command: list[str],
    message: str,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(data.parent)
    assert main([part.format(data=data) for part in command]) == 2
    assert message in capfd.readouterr().err.splitlines()[-1]


def test_an_unknown_engine_leaves_no_folder(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(data.parent)
    assert main(["bench", "run", str(data), "--engine", "slurm", "--model", "offline"]) == 2
    assert not (data.parent / "runs").exists()


@pytest.fixture
def answered(data: Path, capfd: pytest.CaptureFixture[str]) -> str:
    """The folder of a run with six answers that a lenient metric would score."""
    assert main(bench(data, "--config", scripted(data.parent, *["It must be A."] * 6))) == 0
    capfd.readouterr()
    return str(data.parent / "out")


def test_grading_again_works_from_the_command_line(answered: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "grade", answered, "--metric", "choice:strict", "--json"]) == 0
    found: dict[str, Any] = json.loads(capfd.readouterr().out)
    assert (found["metric"], found["accuracy"]) == ("choice:strict", 1.0)


def test_exporting_works_from_the_command_line(answered: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "export", answered, "--to", "csv"]) == 0
    assert capfd.readouterr().out.strip() == str(Path(answered, "results.csv"))


def test_list_shows_what_each_flavour_was_compared_with(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "list", "vqa", "--metrics"]) == 0
    head, official, *_ = capfd.readouterr().out.splitlines()
    assert head.split() == ["flavour", "equal", "differences", "explained"]
    assert official.startswith("vqa:official")


def test_list_gives_the_comparison_as_json(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "list", "--metrics", "--json"]) == 0
    assert {"flavour", "compared"} <= json.loads(capfd.readouterr().out)[0].keys()


def test_an_unknown_metric_is_an_error_of_the_list(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "list", "bleu", "--metrics"]) == 2
    assert "unknown metric 'bleu'" in capfd.readouterr().err
