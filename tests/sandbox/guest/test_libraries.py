"""Libraries in cells: names that need no import, and what is said of those that are missing."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from sandbox import Policy, Sandbox, Session
from sandbox.guest.libraries import Libraries


@pytest.fixture(scope="module")
def with_seaborn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A sandbox with a module named seaborn, which no package of ours brings."""
    folder = tmp_path_factory.mktemp("modules")
    folder.chmod(0o755)
    (folder / "seaborn.py").write_text("colour = 'blue'\n")
    with Sandbox(Policy(cell_timeout_s=20, modules=(str(folder),))) as sandbox:
        yield sandbox


def printed(session: Session, code: str) -> str:
    result = session.run(code)
    assert result.status == "ok", result.error
    return result.text


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("print(math.floor(2.5))", "2"),
        ("print(os.path.basename('/a/b'))", "b"),
        ("print(ImageDraw.Draw(image_clue_0).im.size)", "(40, 30)"),
        ("def f():\n    return json.dumps([1])\nprint(f())", "[1]"),
    ],
)
def test_a_usual_module_can_be_used_without_an_import(session: Session, code: str, text: str) -> None:
    assert printed(session, code).strip() == text


def test_a_library_can_be_used_by_its_usual_alias(with_seaborn: Sandbox) -> None:
    with with_seaborn.open() as session:
        assert printed(session, "print(sns.colour)") == "blue\n"


def test_a_library_is_not_loaded_before_it_is_used(with_seaborn: Sandbox) -> None:
    with with_seaborn.open() as session:
        assert printed(session, "print('seaborn' in sys.modules)") == "False\n"


def test_a_name_that_needs_no_import_is_no_variable(session: Session) -> None:
    assert printed(session, "print(math.e > 2, 'math' in globals(), 'math' in dir())") == "True False False\n"


def test_a_variable_hides_a_name_that_needs_no_import(session: Session) -> None:
    assert printed(session, "glob = 3; print(glob); del glob; print(glob.glob('x*'))") == "3\n[]\n"


def test_an_import_gives_the_module_itself(with_seaborn: Sandbox) -> None:
    with with_seaborn.open() as session:
        code = "import seaborn; print(seaborn is sys.modules['seaborn'], type(seaborn).__name__)"
        assert printed(session, code) == "True module\n"


def test_a_name_is_the_module_itself_once_it_was_used(with_seaborn: Sandbox) -> None:
    with with_seaborn.open() as session:
        assert printed(session, "sns.colour; print(sns is sys.modules['seaborn'])") == "True\n"


def test_an_attribute_that_is_set_reaches_the_module(with_seaborn: Sandbox) -> None:
    with with_seaborn.open() as session:
        assert printed(session, "sns.colour = 'red'\nimport seaborn\nprint(seaborn.colour)") == "red\n"


def test_every_library_that_is_reported_can_be_imported(sandbox: Sandbox, session: Session) -> None:
    assert {"numpy", "PIL", "matplotlib"} <= set(sandbox.libraries)
    assert session.run(f"import {', '.join(sandbox.libraries)}").status == "ok"


def test_the_libraries_of_another_interpreter_are_those_that_it_finds(sandbox: Sandbox) -> None:
    with Sandbox(Policy(python=sys.executable)) as other:
        assert other.libraries == sandbox.libraries


def test_a_missing_module_is_reported_with_what_is_installed(session: Session) -> None:
    error = session.run("import no_such_library").error
    assert error is not None
    advice = error.traceback.splitlines()[-1]
    assert advice.startswith("no_such_library is not installed, and cannot be: there is no network.")
    assert "Installed: numpy, PIL, matplotlib" in advice


def test_a_missing_submodule_is_reported_as_python_does(session: Session) -> None:
    error = session.run("import numpy.no_such_part").error
    assert error is not None
    assert error.traceback.splitlines()[-1] == "ModuleNotFoundError: No module named 'numpy.no_such_part'"


def test_a_missing_text_engine_is_replaced_by_the_installed_one() -> None:
    advice = Libraries(["rapidocr"]).advise(ModuleNotFoundError("no", name="no_such_library"))
    assert advice is not None
    assert "rapidocr.RapidOCR()" not in advice
    advice = Libraries(["rapidocr"]).advise(ModuleNotFoundError("no", name="keras_ocr"))
    assert advice is not None
    assert "use rapidocr.RapidOCR()" in advice


@pytest.mark.parametrize(
    "code",
    [
        "pip install easyocr",
        "!pip install easyocr",
        "!pip3 install -q easyocr 2>&1 | tail -1",
        "!{sys.executable} -m pip install easyocr",
        "%pip install easyocr",
        "%conda install easyocr",
        "!apt-get install -y tesseract-ocr",
        "a = 1\n!pip install easyocr",
    ],
)
def test_an_installation_is_refused_with_what_is_installed(session: Session, code: str) -> None:
    text = printed(session, code)
    assert text.startswith("Nothing can be installed: there is no network. Installed: numpy, PIL, matplotlib")


def test_an_installation_that_is_not_python_is_refused_too(session: Session) -> None:
    error = session.run("a = 1\npip install easyocr").error
    assert error is not None
    assert error.traceback.splitlines()[-1].startswith("Nothing can be installed: there is no network.")


def test_other_commands_run(session: Session) -> None:
    assert printed(session, "!echo pip install x") == "pip install x\n"
