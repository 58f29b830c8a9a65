"""The documentation: links lead somewhere, code blocks run, and commands are accepted by the command line.

Covered: every page of docs/ and the pages at the root. The Python blocks of a page run in order in one namespace,
offline, in the root of the checkout; a block with a title is for a cell and only has to compile.
Not covered: links to other sites, and what a command does.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from pyvision.cli.main import parse
from sandbox.__main__ import main as sandbox_main

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("examples/*.md"), *ROOT.glob("docs/**/*.md")])

_FENCE = re.compile(r"^```(\S*)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
_SHELL = {"cat", "cd", "cp", "echo", "export", "mkdir", "ollama", "pip", "python3", "source", "sudo", "vllm"}


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(page: Path, language: str, *, titled: bool = False) -> list[str]:
    found = _FENCE.findall(text_of(page))
    return [code for name, title, code in found if name == language and bool(title.strip()) == titled]


def pages_with(language: str, *, titled: bool = False) -> list[Path]:
    return [page for page in PAGES if blocks(page, language, titled=titled)]


def anchors(page: Path) -> set[str]:
    """The fragment of each heading, as the documentation generator and code hosts write it."""
    headings = _HEADING.findall(_FENCE.sub("", text_of(page)))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def dead_links(page: Path) -> Iterator[str]:
    for link in _LINK.findall(_FENCE.sub("", text_of(page))):
        path, _, fragment = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if ":" in path:
            continue
        if not target.exists() or (fragment and fragment not in anchors(target)):
            yield link


def commands(page: Path) -> list[list[str]]:
    """The words of every command in the console blocks, without what the shell does for it."""
    joined_text = "".join(blocks(page, "console")).replace("\\\n", " ")
    lines = [line.removeprefix("$ ") for line in joined_text.splitlines() if line.startswith("$ ")]
    return [shlex.split(command) for line in lines for command in re.split(r" && | \| ", line)]


def check(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    match command:
        case ["pyvision", *arguments] | ["python", "-m", "pyvision", *arguments]:
            parse(arguments)
        case ["python", "-m", "sandbox", name, *arguments]:
            with pytest.raises(SystemExit, match="0"):
                sandbox_main([name, "--help"])
            known = capsys.readouterr().out
            assert all(flag in known for flag in arguments if flag.startswith("--"))
        case ["python", "-m", module, *_]:
            assert find_spec(module)
        case ["python", program, *_]:
            assert (ROOT / program).is_file()
        case [program, *_]:
            assert program in _SHELL


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_internal_link_of_a_page_leads_somewhere(page: Path) -> None:
    assert list(dead_links(page)) == []


def imported(page: Path) -> list[tuple[str, str]]:
    """The modules of ours that the Python blocks of a page import, with the names that they take from them."""
    trees = [ast.parse(code) for code in blocks(page, "python")]
    return [
        (node.module or "", alias.name)
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("pyvision", "sandbox"))
        for alias in node.names
    ]


@pytest.mark.parametrize("page", pages_with("python"), ids=name_of)
def test_the_names_that_a_page_imports_exist(page: Path) -> None:
    assert [name for module, name in imported(page) if not hasattr(import_module(module), name)] == []


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=() if page.name == "README.md" else pytest.mark.slow)
        for page in pages_with("python")
    ],
    ids=name_of,
)
def test_the_python_blocks_of_a_page_run(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PYVISION_MODEL", "offline")
    namespace: dict[str, object] = {"__name__": "__main__"}

    for code in blocks(page, "python"):
        exec(compile(code, name_of(page), "exec", dont_inherit=True), namespace)


@pytest.mark.parametrize("page", pages_with("python", titled=True), ids=name_of)
def test_the_python_blocks_for_cells_compile(page: Path) -> None:
    for code in blocks(page, "python", titled=True):
        compile(code, name_of(page), "exec")


@pytest.mark.parametrize("page", pages_with("console"), ids=name_of)
def test_the_commands_of_a_page_are_accepted(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in commands(page):
        check(command, capsys)


@pytest.mark.slow
def test_the_commands_of_the_readme_that_need_no_key_run_as_written(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    written = [words for words in commands(ROOT / "README.md") if words[0] == "pyvision"]
    for words in written:
        if not {"demo", "chat", "keys", "-m"} & set(words):
            done = subprocess.run(
                [sys.executable, "-m", *words],
                cwd=tmp_path,
                env={**os.environ, "PYVISION_MODEL": "offline"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert done.returncode == 0, (words, done.stderr)


def test_the_readme_can_be_read_in_five_minutes() -> None:
    assert 600 <= len(text_of(ROOT / "README.md").split()) <= 900


@pytest.mark.parametrize("page", pages_with("json"), ids=name_of)
def test_the_json_blocks_of_a_page_are_json(page: Path) -> None:
    for text in blocks(page, "json"):
        json.loads(text)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_make_targets_that_a_page_names_exist(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+)(?: [a-z -]+)?:", text_of(ROOT / "Makefile"), re.MULTILINE))

    assert set(re.findall(r"`make ([a-z-]+)", text_of(page))) <= targets


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_extras_that_a_page_names_exist(page: Path) -> None:
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]

    named = re.findall(r"(?:pyvision-agent|'\.)\[([a-z]+)[],]", text_of(page))

    assert set(named) <= set(project["optional-dependencies"])
