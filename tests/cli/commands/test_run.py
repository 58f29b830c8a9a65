from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pyvision.cli import main
from tests.cli.conftest import Command, Done
from tests.cli.running import ANSWER, pyvision, run_arguments, scripted
from tests.servers.chat import ChatServer

pytestmark = pytest.mark.early

COMMANDS = (
    "run",
    "chat",
    "logs",
    "keys",
    "config",
    "completions",
    "demo",
    "bench",
    "report",
    "replay",
    "export",
    "bdog",
    "avis",
    "vdebugger",
    "index",
    "doctor",
    "sandbox",
)


CODE = "print('width', image_clue_0.width)\nplt.imshow(image_clue_0); plt.show()"
CELL = f"I measure it.\n<code>\n```python\n{CODE}\n```\n"


def test_the_answer_alone_is_on_standard_output(tmp_path: Path, photo: Path) -> None:
    config = scripted(tmp_path, CELL, ANSWER)
    done = pyvision("run", "--image", str(photo), "--question", "How wide?", "--config", config, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "64\n")
    assert "I measure it." in done.stderr
    assert "print('width', image_clue_0.width)" in done.stderr
    assert "width 64" in done.stderr
    assert "\x1b" not in done.stderr


HOSTILE = "red\x1b]52;c;cm0gLXJmIH4=\x07 and\x1b[2J\x9b2J blue"


def test_an_answer_on_a_terminal_has_no_control_sequences(tmp_path: Path, photo: Path) -> None:
    config = scripted(tmp_path, f"<answer>{HOSTILE}</answer>")
    reader, terminal = os.openpty()
    arguments = ["run", "--image", str(photo), "--question", "?", "--strategy", "direct", "--config", config]
    try:
        subprocess.run(
            [sys.executable, "-m", "pyvision", *arguments],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
            stdout=terminal,
            stderr=subprocess.DEVNULL,
            timeout=120,
            check=True,
        )
        assert os.read(reader, 4096) == b"red and blue\r\n"
    finally:
        os.close(reader)
        os.close(terminal)


def test_an_answer_in_a_pipe_is_what_the_model_wrote(tmp_path: Path, photo: Path, command: Command) -> None:
    config = scripted(tmp_path, f"<answer>{HOSTILE}</answer>")
    done = command(*run_arguments(photo, config), "--strategy", "direct")
    assert done.stdout == f"{HOSTILE}\n"


def test_each_figure_is_saved_where_the_progress_says(tmp_path: Path, photo: Path, command: Command) -> None:
    config = scripted(tmp_path, CELL, ANSWER)
    done = command(*run_arguments(photo, config), "--out", "here")
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("image_clue_1"))
    assert (tmp_path / line.split()[-1]).read_bytes().startswith(b"\x89PNG")


def test_json_is_one_object_with_the_promised_keys(
    tmp_path: Path, photo: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = scripted(tmp_path, ANSWER)
    assert main([*run_arguments(photo, config), "--json"]) == 0
    summary = json.loads(capfd.readouterr().out)
    promised = {"answer", "end_reason", "strategy", "model", "turns", "cells", "seconds", "usage", "run_dir"}
    assert summary.keys() >= promised
    assert (summary["answer"], summary["end_reason"], summary["strategy"]) == ("64", "answered", "code_loop")
    assert summary["usage"] == {"input_tokens": 0, "output_tokens": 0, "cached_tokens": 0}
    assert Path(summary["run_dir"], "events.jsonl").is_file()


@pytest.fixture
def upstream(tmp_path: Path, photo: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The messages of a run with a prompt file of upstream's, in the folder `out`."""
    prompts = tmp_path / "prompts.json"
    prompts.write_text('{"theirs": "Size {width} x {height}. {query}"}', encoding="utf-8")
    with ChatServer([ANSWER]) as server:
        monkeypatch.setenv("PYVISION_BASE_URL", server.base_url)
        done = command(
            "run", "--image", str(photo), "--question", "How wide?", "--model", "vllm", "--out", "out",
            "--prompt-file", "prompts.json", "--prompt", "theirs",
        )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "64\n")
    return server.requests[0]["messages"]


def test_an_upstream_prompt_file_is_used(upstream: Any) -> None:
    assert upstream[0]["content"][-1]["text"] == "Size 64 x 48. How wide?"


@pytest.mark.usefixtures("upstream")
def test_an_upstream_prompt_file_is_written_down(tmp_path: Path) -> None:
    config = json.loads((tmp_path / "out" / "config.json").read_text("utf-8"))
    assert config["options"]["prompt_file"] == "prompts.json"


UNUSABLE = {
    "an unknown tool": (
        ["--set", "tools=crystal_ball"],
        "no provider is set for the tool 'crystal_ball'; choose one: --tool",
    ),
    "a tool without a provider": (
        ["--set", "tools=web_search"],
        "no provider is set for the tool 'web_search'",
    ),
    "no prompt file": (
        ["--prompt-file", "nowhere.json"],
        "pyvision: nowhere.json: the prompt file cannot be read",
    ),
    "a prompt without its file": (["--prompt", "theirs"], "give that file with --prompt-file FILE"),
    "no index": (["--strategy", "avis", "--tool", "document=index:no/such"], "there is no index '/"),
}


@pytest.fixture(params=UNUSABLE)
def unusable(request: pytest.FixtureRequest, tmp_path: Path, photo: Path) -> str:
    """The message that is due, after a run that cannot begin."""
    flags, message = UNUSABLE[request.param]
    arguments = ["--image", str(photo), "--question", "?", "--config", scripted(tmp_path, ANSWER)]
    assert main(["run", *arguments, "--out", str(tmp_path / "out"), *flags]) == 2
    return message


def test_what_a_strategy_cannot_begin_without_is_one_line(
    capfd: pytest.CaptureFixture[str], unusable: str
) -> None:
    shown = capfd.readouterr()
    (line,) = shown.err.splitlines()
    assert unusable in line
    assert shown.out == ""


@pytest.mark.usefixtures("unusable")
def test_a_run_that_cannot_begin_leaves_no_folder(tmp_path: Path) -> None:
    assert not (tmp_path / "out").exists()


def test_a_disk_that_fills_up_in_mid_run_ends_it_in_order(tmp_path: Path, photo: Path) -> None:
    (tmp_path / "replies.json").write_text(json.dumps(["too much " * 10_000, ANSWER]), encoding="utf-8")
    config = str(tmp_path / "scripted.json")
    Path(config).write_text('{"wire": "scripted", "file": "replies.json"}', encoding="utf-8")
    run = [sys.executable, "-m", "pyvision", *run_arguments(photo, config)]
    done = subprocess.run(
        ["prlimit", "--fsize=20000", *run, "--out", "out"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].startswith("pyvision: 'out': ")
    assert "Traceback" not in done.stderr
    lines = (tmp_path / "out" / "events.jsonl").read_text("utf-8").splitlines()
    kinds = [json.loads(line).get("kind") for line in lines]
    assert kinds == [None, "began", "ended"]  # nothing of the call whose reply did not fit


def test_the_same_file_twice_is_two_images(tmp_path: Path, photo: Path, command: Command) -> None:
    config = scripted(tmp_path, "<code>\n```python\nprint(image_clue_0 == image_clue_1)\n```\n", ANSWER)
    twice = ["--image", str(photo), "--image", str(photo)]
    done = command("run", *twice, "--question", "?", "--config", config, "--out", "out")
    assert done.returncode == 0
    assert "│ True" in done.stderr
    assert len(list((tmp_path / "out" / "images").iterdir())) == 1


@pytest.mark.parametrize(
    ("is_full", "replies"),
    [
        (True, [ANSWER]),
        *(pytest.param(is_full, [CELL, ANSWER], marks=pytest.mark.slow) for is_full in (True, False)),
    ],
)
def test_a_run_whose_standard_error_is_closed_still_answers(
    tmp_path: Path, photo: Path, is_full: bool, replies: list[str]
) -> None:
    config = scripted(tmp_path, *replies)
    command = [sys.executable, "-m", "pyvision", "run", "--image", str(photo), "--question", "?"]
    read, write = os.pipe()
    os.close(read)
    with Path("/dev/full").open("w") as full, os.fdopen(write, "w") as broken:
        done = subprocess.run(
            [*command, "--config", config],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=full if is_full else broken,
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, b"64\n")


def test_when_standard_output_fails_the_error_names_the_folder_of_the_answer(
    tmp_path: Path, photo: Path
) -> None:
    config = scripted(tmp_path, ANSWER)
    command = [sys.executable, "-m", "pyvision", "run", "--image", str(photo), "--question", "?"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*command, "--config", config, "--out", "out"],
            env=os.environ | {"PYTHONUNBUFFERED": ""},
            cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert "'out/summary.json'" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert json.loads((tmp_path / "out" / "summary.json").read_text("utf-8"))["answer"] == "64"


def test_a_run_without_an_answer_exits_with_3(tmp_path: Path, photo: Path, command: Command) -> None:
    config = scripted(tmp_path, *["Hm."] * 9)
    done = command(*run_arguments(photo, config))
    assert (done.returncode, done.stdout) == (3, "")


@pytest.mark.parametrize(
    "flag",
    [
        "--max-turns",
        pytest.param("--max-pictures", marks=pytest.mark.slow),
        pytest.param("--max-bytes", marks=pytest.mark.slow),
    ],
)
def test_a_budget_of_the_command_line_is_kept(
    flag: str, tmp_path: Path, photo: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    config = scripted(tmp_path, *["Hm."] * 9)
    run_arguments = [
        "--image",
        str(photo),
        "--image",
        str(photo),
        "--question",
        "?",
        "--config",
        config,
        "--json",
    ]
    assert main(["run", *run_arguments, flag, "1"]) == 3
    reasons = {"--max-turns": "turn_limit", "--max-pictures": "picture_limit", "--max-bytes": "byte_limit"}
    assert json.loads(capfd.readouterr().out)["end_reason"] == reasons[flag]


def test_a_failing_endpoint_exits_with_4(tmp_path: Path, photo: Path, command: Command) -> None:
    config = scripted(tmp_path)
    done = command(*run_arguments(photo, config))
    assert done.returncode == 4


@pytest.fixture
def unprotected(tmp_path: Path, photo: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> Done:
    """A run with a cell on a machine without isolation."""
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("sandbox.isolation.landlock.landlock_abi", lambda: -1)
    return command(*run_arguments(photo, scripted(tmp_path, CELL, ANSWER)))


def test_a_machine_without_isolation_exits_with_5(unprotected: Done) -> None:
    assert (unprotected.returncode, unprotected.stdout) == (5, "")


def test_a_machine_without_isolation_is_reported_with_what_to_install(unprotected: Done) -> None:
    assert "apt install bubblewrap" in unprotected.stderr


BAD = {
    "missing image": (["--image", "nowhere.png", "--question", "?"], "nowhere.png"),
    "a folder without images": (["--image", "used", "--question", "?"], "no image is in this folder"),
    "a pattern without a match": (["--image", "*.jpg", "--question", "?"], "no file matches"),
    "a private URL": (["--image", "http://10.0.0.1/a.png", "--question", "?"], "not on the public internet"),
    "a missing file of the question": (["--image", "photo.png", "--question", "@nowhere"], "'@nowhere'"),
    "standard input twice": (["-", "-q", "-"], "only once"),
    "a mistyped flag": (["?", "photo.png", "--modle", "x"], "did you mean --model?"),
    "no image": (["--question", "?"], "--image"),
    "an empty question": (["--image", "photo.png", "--question", " "], "--question"),
    "an unknown strategy": (["--image", "photo.png", "--question", "?", "--strategy", "magic"], "code_loop"),
    "an unknown model": (["--image", "photo.png", "--question", "?", "--model", "nonesuch"], "offline"),
    "an unknown option": (["--image", "photo.png", "--question", "?", "--set", "depth=3"], "repairs"),
    "an option without a value": (
        ["--image", "photo.png", "--question", "?", "--set", "repairs"],
        "KEY=VALUE",
    ),
    "an unknown flag": (["--image", "photo.png", "--question", "?", "--fast"], "--fast"),
    "no turns": (["--image", "photo.png", "--question", "?", "--max-turns", "0"], "--max-turns"),
    "no pictures": (["--image", "photo.png", "--question", "?", "--max-pictures", "0"], "--max-pictures"),
    "a cost without prices": (["--image", "photo.png", "--question", "?", "--max-cost", "1"], "--prices"),
    "a missing price table": (["--image", "photo.png", "--question", "?", "--prices", "nowhere"], "nowhere"),
    "a missing config": (
        ["--image", "photo.png", "--question", "?", "--config", "nowhere.json"],
        "nowhere.json",
    ),
    "a config that is not JSON": (
        ["--image", "photo.png", "--question", "?", "--config", "bad.json"],
        "bad.json",
    ),
    "an unknown config key": (["--image", "photo.png", "--question", "?", "--config", "odd.json"], "colour"),
    "a file as --out": (["--image", "photo.png", "--question", "?", "--out", "photo.png"], "photo.png"),
    "an unwritable --out": (["--image", "photo.png", "--question", "?", "--out", "/proc/nowhere"], "--out"),
    "a used --out": (["--image", "photo.png", "--question", "?", "--out", "used"], "--out"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_in_one_clear_line(
    case: str, tmp_path: Path, photo: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments, message = BAD[case]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    (tmp_path / "odd.json").write_text('{"wire": "offline", "colour": 1}', encoding="utf-8")
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "events.jsonl").write_text("{}\n", encoding="utf-8")
    try:
        code = main(["run", *arguments])
    except SystemExit as stopped:
        code = int(stopped.code or 0)
    out, err = capfd.readouterr()
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_a_key_is_nowhere_in_what_a_run_leaves_behind(
    tmp_path: Path, photo: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-" + os.urandom(12).hex()
    with ChatServer([CELL, ANSWER]) as server:
        monkeypatch.setenv("OPENAI_API_KEY", key)
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        done = command(
            "run", "--image", str(photo), "--question", "?", "--model", "openai:some-model", "--out", "out"
        )
    assert (done.returncode, done.stdout) == (0, "64\n")
    left = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert key.encode() not in left + done.stderr.encode()


def test_help_answers_without_loading_anything_heavy() -> None:
    code = "import sys, pyvision.cli as c\ntry: c.main(['--help'])\nexcept SystemExit: print(sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30
    )
    for heavy in ("numpy", "PIL", "openai", "pydantic", "rich", "matplotlib", "jupyter_client", "zmq"):
        assert f"'{heavy}'" not in done.stdout
    assert "'pyvision.cli.main'" in done.stdout
    for needless in (
        *COMMANDS,
        "runs",
        "flags",
    ):  # a command is loaded, and its flags declared, only to be called
        assert f"'pyvision.cli.{needless}'" not in done.stdout


def test_the_help_names_every_command(capfd: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--help"], ["--help", "run"]):
        with pytest.raises(SystemExit):
            main(arguments)
        message = capfd.readouterr().out
        assert [name for name in COMMANDS if f"\n    {name}" not in message] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_help_of_its_own(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert capfd.readouterr().out.startswith(f"usage: pyvision {command} [-h]")
