from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

from pyvision.cli.main import parse
from pyvision.config.environment import environment
from tests.cli.conftest import Command

KEY = "sk-0123456789abcdef"


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder."""
    monkeypatch.setenv("PYVISION_CONFIG", str(tmp_path / "user"))
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "PYVISION_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "user"


@pytest.fixture
def stored(user: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{KEY}\n"))
    command("keys", "set", "openai")
    return user


def test_a_key_from_a_pipe_is_stored(stored: Path) -> None:
    assert json.loads((stored / "keys.json").read_text(encoding="utf-8")) == {"OPENAI_API_KEY": KEY}


def test_keys_are_listed_by_name_only(stored: Path, command: Command) -> None:
    assert command("keys", "list").stdout == "OPENAI_API_KEY\n"


def test_a_stored_key_makes_its_provider_the_default(stored: Path, command: Command) -> None:
    shown = command("config").stdout
    assert shown.splitlines()[0].split()[:2] == ["model", "openai"]


@pytest.mark.parametrize("arguments", [("config",), ("config", "--json"), ("keys", "list"), ("models",)])
def test_no_command_shows_a_key(stored: Path, command: Command, arguments: tuple[str, ...]) -> None:
    done = command(*arguments)
    assert done.returncode == 0
    assert KEY not in done.stdout + done.stderr


def test_a_list_without_keys_says_how_to_store_one(user: Path, command: Command) -> None:
    done = command("keys", "list")
    assert (done.returncode, done.stdout) == (0, "")
    assert "no key is stored; pyvision keys set PROVIDER" in done.stderr


KEYRING = """
import json
from pathlib import Path
from keyring.errors import KeyringLocked

FILE = Path(__file__).with_name("passwords.json")

def read():
    if FILE.with_name("locked").exists():
        raise KeyringLocked("it is locked")
    return json.loads(FILE.read_text()) if FILE.exists() else {}

def get_password(service, name):
    return read().get(f"{service} {name}")

def set_password(service, name, key):
    FILE.write_text(json.dumps({**read(), f"{service} {name}": key}))

def delete_password(service, name):
    kept = {entry: key for entry, key in read().items() if entry != f"{service} {name}"}
    FILE.write_text(json.dumps(kept))
"""
KEYRING_ERRORS = """
class KeyringError(Exception): pass
class KeyringLocked(KeyringError): pass
"""


@pytest.fixture
def keyring(user: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a stand-in for the package, which keeps passwords in a file, with one key stored."""
    package = tmp_path / "packages" / "keyring"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(KEYRING, encoding="utf-8")
    (package / "errors.py").write_text(KEYRING_ERRORS, encoding="utf-8")
    monkeypatch.syspath_prepend(package.parent)
    for name in ("keyring", "keyring.errors"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{KEY}\n"))
    done = command("keys", "set", "openai", "--keyring")
    assert done.returncode == 0, done.stderr
    return package


def test_a_key_in_the_keyring_is_in_no_file_of_ours(keyring: Path, user: Path) -> None:
    assert json.loads((keyring / "passwords.json").read_text()) == {"pyvision OPENAI_API_KEY": KEY}
    assert KEY not in (user / "keys.json").read_text(encoding="utf-8")


def test_a_key_in_the_keyring_is_in_force(keyring: Path) -> None:
    assert environment()["OPENAI_API_KEY"] == KEY


def test_config_names_the_keyring_as_the_source_of_its_key(keyring: Path, command: Command) -> None:
    row = next(line for line in command("config").stdout.splitlines() if line.startswith("OPENAI_API_KEY"))
    assert row.endswith("keyring of the system")


def test_a_key_of_the_environment_spares_the_keyring(keyring: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (keyring / "locked").touch()
    monkeypatch.setenv("OPENAI_API_KEY", "other")
    assert environment()["OPENAI_API_KEY"] == "other"


def test_a_keyring_that_is_locked_is_named_in_one_line(keyring: Path, command: Command) -> None:
    (keyring / "locked").touch()
    done = command("config")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "OPENAI_API_KEY: the system's keyring cannot be used (it is locked)" in done.stderr


def test_a_removed_key_leaves_the_keyring(keyring: Path, command: Command) -> None:
    assert command("keys", "remove", "openai").returncode == 0
    assert (keyring / "passwords.json").read_text() == "{}"


def test_a_missing_keyring_package_names_the_extra(
    user: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{KEY}\n"))
    done = command("keys", "set", "openai", "--keyring")
    assert (done.returncode, "pyvision-agent[keyring]" in done.stderr) == (2, True)
    assert not (user / "keys.json").exists()


def test_a_removed_key_is_gone(stored: Path, command: Command) -> None:
    assert command("keys", "remove", "openai").returncode == 0
    assert command("keys", "list").stdout == ""


def test_the_path_of_the_keys_is_printed(user: Path, command: Command) -> None:
    assert command("keys", "path").stdout == f"{user / 'keys.json'}\n"


@pytest.mark.parametrize(
    ("arguments", "typed", "message"),
    [
        (
            ("set", "nonesuch"),
            KEY,
            "unknown provider 'nonesuch'; give a variable such as TAVILY_API_KEY, or one of anthropic",
        ),
        (("set", "offline"), KEY, "'offline' takes no key"),
        (("set", "openai"), "", "that is not a key"),
        (("set", "openai", KEY), "", "a key on the command line stays in the shell's history"),
        (("set", "openai"), "two words", "that is not a key"),
        (("remove", "openai"), "", "no key OPENAI_API_KEY is stored"),
    ],
)
def test_what_is_no_key_is_one_line(  # noqa: PLR0917
    user: Path, command: Command, arguments: tuple[str, ...], typed: str, message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    done = command("keys", *arguments)
    assert (done.returncode, message in done.stderr) == (2, True)


def test_settings_of_a_project_are_the_defaults_of_a_run(user: Path, tmp_path: Path) -> None:
    (tmp_path / "pyvision.toml").write_text('strategy = "direct"\nmax_turns = 3\n', encoding="utf-8")
    options = parse(["How many?", "photo.png", "--max-turns", "9"])
    assert (options.strategy, options.max_turns) == ("direct", 9)


def test_settings_of_a_project_change_no_benchmark(user: Path, tmp_path: Path) -> None:
    (tmp_path / "pyvision.toml").write_text('strategy = "direct"\n', encoding="utf-8")
    assert parse(["bench", "run", "counting", "--out", "x"]).strategy == "code_loop"


def test_a_broken_file_is_one_line(user: Path, tmp_path: Path, command: Command) -> None:
    (tmp_path / "pyvision.toml").write_text("strategie = 1", encoding="utf-8")
    done = command("How many?", "photo.png")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "did you mean 'strategy'?" in done.stderr


def test_config_names_the_file_of_a_setting(user: Path, tmp_path: Path, command: Command) -> None:
    (tmp_path / "pyvision.toml").write_text('model = "ollama"\nmax_turns = 3', encoding="utf-8")
    rows = json.loads(command("config", "--json").stdout)
    source = str(tmp_path / "pyvision.toml")
    assert {"name": "max_turns", "value": "3", "source": source} in rows
    assert {"name": "model", "value": "ollama", "source": source} in rows


ASK = {  # the candidates for the last word, one per line
    "bash": "COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _pyvision; "
    "printf '%s\\n' \"${{COMPREPLY[@]}}\"",
    "zsh": "compadd() {{ shift; print -l -- ${{(M)@:#${{words[CURRENT]}}*}} }}; _files() {{ print -l -- *(N) }}; "
    "words=({words}); CURRENT=$#words; _pyvision",
    "fish": "complete -C '{line}'",
}


@pytest.mark.parametrize("shell", sorted(ASK))
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("pyvision lo", "logs"),
        ("pyvision bench re", "report"),
        ("pyvision run --max-tu", "--max-turns"),
        ("pyvision run --strategy vdeb", "vdebugger"),
        ("pyvision question photo.png -m offl", "offline"),
        ("pyvision question photo.png --stra", "--strategy"),
        ("pyvision keys set openai", "openai"),
        ("pyvision run --image m", "my photo.png"),
    ],
)
def test_shells_complete(shell: str, typed: str, expected: str, command: Command, tmp_path: Path) -> None:
    if which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "my photo.png").touch()
    script = command("completions", shell).stdout
    load = "compdef() { :; }\n" if shell == "zsh" else ""
    ask = ASK[shell].format(words=typed, line=typed)
    done = subprocess.run(
        [shell, *(["-f"] if shell == "zsh" else []), "-c", f"{load}{script}\n{ask}"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    assert (expected in done.stdout.splitlines(), done.stderr) == (True, "")
