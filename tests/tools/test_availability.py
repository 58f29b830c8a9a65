"""What a chosen provider lacks on this machine is reported before anything is created."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from pyvision.errors import ConfigError, MissingExtra
from pyvision.tools.registry import CHECKS, ROWS, check_presence
from tests.tools.perception.pictures import FakeTool

EXTRAS = {"hf": ("torch", "vision"), "rapidocr": ("rapidocr", "ocr"), "ddgs": ("ddgs", "web")}


def test_every_check_is_of_a_provider_that_some_tool_has() -> None:
    assert CHECKS.keys() <= {provider for row in ROWS.values() for provider in row.providers}


@pytest.mark.parametrize("provider", EXTRAS)
def test_a_package_that_is_not_installed_names_its_extra(provider: str) -> None:
    package, extra = EXTRAS[provider]
    if find_spec(package) is not None:
        check_presence({"tool": provider})
        return
    with pytest.raises(MissingExtra, match=rf"pip install 'pyvision-agent\[{extra}\]'"):
        check_presence({"tool": provider})


def test_what_is_kept_of_the_web_is_read_without_the_package() -> None:
    check_presence({"web_search": "ddgs:results=3,only-cache"})


def test_a_program_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match=r"--tool ocr=tesseract: .*apt-get install tesseract-ocr"):
        check_presence({"ocr": "tesseract:deu"})


def test_an_index_that_is_missing_is_named_with_the_command_that_makes_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=f"no index '{tmp_path}/none'; create it with `pyvision index add"):
        check_presence({"document": f"index:{tmp_path}/none"})
    (tmp_path / "none").touch()
    check_presence({"document": f"index:{tmp_path}/none"})


def test_a_tool_that_is_given_as_an_object_needs_no_provider() -> None:
    check_presence({"caption": FakeTool("caption")})


@pytest.mark.parametrize("provider", ["model", "no-such-provider"])
def test_a_provider_without_a_requirement_passes_the_check(provider: str) -> None:
    check_presence({"vqa": provider})
