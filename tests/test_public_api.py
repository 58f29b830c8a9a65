from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import pyvision


@pytest.mark.parametrize("name", pyvision.__all__)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(pyvision, name) is not None


def test_dir_shows_every_public_name() -> None:
    assert set(pyvision.__all__) <= set(dir(pyvision))


def test_all_public_names_can_be_imported_at_once() -> None:
    names: dict[str, object] = {}
    exec("from pyvision import *", names)
    assert set(pyvision.__all__) <= set(names)


def test_the_version_is_that_of_the_package() -> None:
    project = Path(__file__).parents[1] / "pyproject.toml"
    assert pyvision.__version__ == tomllib.loads(project.read_text("utf-8"))["project"]["version"]


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'pyvision' has no attribute 'nonsense'"):
        _ = pyvision.nonsense


def test_importing_the_package_loads_only_the_table_of_moved_modules() -> None:
    program = (
        "import sys, pyvision; print(*(m for m in sys.modules if m.startswith(('pyvision.', 'sandbox'))))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["pyvision.config", "pyvision.config.deprecated_modules"]
