"""The folders of `Policy.modules`: cells import from them, and cannot change them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import InterpreterError, Policy, Sandbox, Session

MODULE = "import inspect\nprint('imported')\nfile = __file__\n\ndef double(x):\n    return 2 * x\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("modules")
    (folder / "numbers_of_ours").mkdir()
    (folder / "numbers_of_ours" / "__init__.py").write_text("from .doubling import double, file\n")
    (folder / "numbers_of_ours" / "doubling.py").write_text(MODULE)
    (folder / "colorsys.py").write_text("raise ImportError('the library of Python comes first')\n")
    for path in (folder, *folder.rglob("*")):  # the mount protects them, not their mode
        path.chmod(0o777)
    return folder


@pytest.fixture(scope="module")
def sandbox(folder: Path) -> Iterator[Sandbox]:
    with Sandbox(Policy(modules=(str(folder),))) as opened:
        yield opened


@pytest.fixture(scope="module")
def session(sandbox: Sandbox) -> Iterator[Session]:
    with sandbox.open({}) as opened:
        yield opened


def test_a_cell_imports_a_package_of_the_folder(session: Session) -> None:
    assert session.run("from numbers_of_ours import double\nprint(double(21))").text.endswith("42\n")


def test_a_module_is_loaded_only_by_the_cell_that_imports_it(sandbox: Sandbox) -> None:
    with sandbox.open({}) as session:
        assert session.run("import sys; print('numbers_of_ours' in sys.modules)").text == "False\n"


def test_the_standard_library_comes_first(session: Session) -> None:
    assert session.run("import colorsys; print(colorsys.__name__)").text == "colorsys\n"


@pytest.mark.parametrize(
    "change",
    [
        "open(numbers_of_ours.file, 'a')",
        "os.remove(numbers_of_ours.file)",
        "os.chmod(numbers_of_ours.file, 0o777)",
        "os.mkdir(os.path.join(os.path.dirname(numbers_of_ours.file), 'more'))",
        "os.symlink('/tmp', os.path.join(os.path.dirname(numbers_of_ours.file), 'link'))",
    ],
)
def test_a_cell_cannot_change_the_folder(session: Session, folder: Path, change: str) -> None:
    result = session.run(f"import os, numbers_of_ours\n{change}")
    assert result.error is not None
    assert result.error.name == "OSError"
    assert "Read-only file system" in result.error.message
    assert (folder / "numbers_of_ours" / "doubling.py").read_text() == MODULE


def test_the_path_of_the_folder_on_the_host_is_not_visible(session: Session, folder: Path) -> None:
    assert session.run(f"import os; print(os.path.exists({str(folder)!r}))").text == "False\n"


def test_without_isolation_the_folder_is_imported_where_it_lies(folder: Path) -> None:
    policy = Policy(isolation="none", modules=(str(folder),))
    code = "import sys; sys.dont_write_bytecode = True\nfrom numbers_of_ours import file\nprint(file)"
    with Sandbox(policy) as sandbox:
        with pytest.warns(UserWarning, match="without isolation"):
            session = sandbox.open({})
        assert str(folder) in session.run(code).text


@pytest.mark.parametrize("path", ["/no/such/folder", "modules"])
def test_a_folder_that_cannot_be_mounted_is_named(path: str) -> None:
    with (
        Sandbox(Policy(modules=(path,))) as sandbox,
        pytest.raises(InterpreterError, match=rf"Policy\.modules: '{path}' is not the absolute path"),
    ):
        sandbox.open({})
