"""The data folders are found in a checkout and in what is built from it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from pyvision.config.files import data_folder
from pyvision.demo.actions import EXAMPLES

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = (
    "pyvision",
    "sandbox",
    "prompts",
    "api_configs",
    "examples",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    ".gitignore",
)
FIND = """
from pyvision.config.files import data_folder
from pyvision.demo.actions import EXAMPLES
for kind in ("prompts", "api_configs"):
    print(data_folder(kind))
"""


def build(source: Path, target: Path, kind: str) -> Path:
    """Build the sdist or the wheel of a source tree, without a network."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(target)]
    subprocess.run(command, cwd=source, check=True, capture_output=True, timeout=60)
    (built,) = target.iterdir()
    return built


def files_in(folder: Path) -> set[str]:
    found = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(folder)) for path in found}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what is shipped, so that nothing is built inside the repository."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in SHIPPED:
        source = ROOT / name
        shutil.copytree(source, copy / name) if source.is_dir() else shutil.copy(source, copy)
    return copy


@pytest.fixture(scope="module", params=["checkout", "sdist"])
def installed(
    request: pytest.FixtureRequest, checkout: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A wheel as it lies once installed: built from the checkout, or from the sdist of it."""
    source = checkout
    if request.param == "sdist":
        unpacked = tmp_path_factory.mktemp("unpacked")
        packed = build(checkout, tmp_path_factory.mktemp("sdist"), "sdist")
        subprocess.run(["tar", "-xf", packed, "-C", unpacked], check=True)
        (source,) = unpacked.iterdir()
    site = tmp_path_factory.mktemp("site")
    with ZipFile(build(source, tmp_path_factory.mktemp("wheel"), "wheel")) as archive:
        archive.extractall(site)
    return site


def test_a_checkout_has_its_data_beside_the_package() -> None:
    assert data_folder("prompts") == ROOT / "prompts"
    assert data_folder("api_configs") == ROOT / "api_configs"


def test_an_installed_package_has_its_data_inside(installed: Path, tmp_path: Path) -> None:
    found = subprocess.run(
        [sys.executable, "-c", FIND],
        cwd=tmp_path,
        env={"PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    assert found == [f"{installed}/pyvision/_data/prompts", f"{installed}/pyvision/_data/api_configs"]


@pytest.mark.parametrize("kind", ["prompts", "api_configs"])
def test_every_data_file_is_installed(installed: Path, kind: str) -> None:
    assert files_in(installed / "pyvision/_data" / kind) == files_in(ROOT / kind) != set()


def test_the_images_of_the_demo_are_installed(installed: Path) -> None:
    shipped = {name for _, names in EXAMPLES for name in names}
    assert files_in(installed / "pyvision/_data/examples") == shipped != set()


def test_both_packages_are_installed_with_their_types(installed: Path) -> None:
    for package in ("pyvision", "sandbox"):
        files = files_in(installed / package)
        assert {"py.typed", "__init__.py"} <= files
        assert {file for file in files if not file.startswith("_data/")} == files_in(ROOT / package)


def test_nothing_else_is_installed(installed: Path) -> None:
    names = {path.name for path in installed.iterdir()}
    assert {name for name in names if not name.endswith(".dist-info")} == {"pyvision", "sandbox"}
