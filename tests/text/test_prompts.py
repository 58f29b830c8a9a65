"""Every prompt renders when it is given exactly its variables, and only then."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

import pytest

from pyvision.config.files import data_folder
from pyvision.errors import PromptError
from pyvision.text import prompts

FOLDER = data_folder("prompts")
NAMES = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.suffix in (".md", ".txt"))
CELLS = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.py"))


def variables_of(name: str) -> dict[str, str]:
    return {variable: f"«{variable}»" for variable in Template(prompts.load(name)).get_identifiers()}


def test_there_are_prompts() -> None:
    assert len(NAMES) > 5


def test_a_prompt_renders_with_exactly_its_variables(subtests: pytest.Subtests) -> None:
    for name in NAMES:
        with subtests.test(name=name):
            variables = variables_of(name)
            text = prompts.render(name, **variables)
            assert text == text.rstrip("\n") != ""
            assert all(value in text for value in variables.values())
            assert not re.search(r"\$\{?[a-z_]", text)


def test_a_prompt_is_readable_as_text(subtests: pytest.Subtests) -> None:
    for name in NAMES:
        with subtests.test(name=name):
            text = prompts.load(name)
            assert text.endswith("\n")
            assert "\t" not in text
            assert not re.search(r"[ ]+$", text, re.MULTILINE)


def test_a_cell_is_python(subtests: pytest.Subtests) -> None:
    for name in CELLS:
        with subtests.test(name=name):
            compile(prompts.load(name), name, "exec")


def write_file(folder: Path, text: str) -> str:
    """The name of a prompt with this text; an absolute path is one as well."""
    (folder / "role.md").write_text(text)
    return str(folder / "role.md")


def test_variables_are_filled_in(tmp_path: Path) -> None:
    name = write_file(tmp_path, "$who pays for ${thing}s.\n\n")
    assert prompts.render(name, who="Ann", thing="$pear") == "Ann pays for $pears."


def test_a_double_dollar_is_a_dollar(tmp_path: Path) -> None:
    assert prompts.render(write_file(tmp_path, "It costs $$5.")) == "It costs $5."


def test_a_missing_variable_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PromptError, match=r"role\.md': missing variables \['height'\]"):
        prompts.render(write_file(tmp_path, "$width x $height"), width=3)


def test_an_unknown_variable_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PromptError, match=r"unknown variables \['depth'\]"):
        prompts.render(write_file(tmp_path, "$width"), width=3, depth=4)


def test_a_prompt_that_is_not_there_is_named() -> None:
    with pytest.raises(PromptError, match=r"prompt 'code_loop/no\.md' cannot be read at .*: No such file"):
        prompts.render("code_loop/no.md")


def test_a_stray_dollar_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PromptError, match=r"role\.md': a \$ does not start a variable; write \$\$"):
        prompts.render(write_file(tmp_path, "costs $ 5"))
