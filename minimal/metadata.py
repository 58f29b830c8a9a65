"""The metadata of pyvision-minimal: that of pyvision, without the packages of its extra `guest` as dependencies."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_SHARED = (
    "version",
    "description",
    "license",
    "classifiers",
    "optional-dependencies",
    "scripts",
    "entry-points",
)


class MinimalMetadata(MetadataHookInterface):
    """Reads the pyproject.toml of the checkout."""

    def update(self, metadata: dict[str, Any]) -> None:
        metadata.update(minimal_project(Path(self.root).parent / "pyproject.toml"))


def minimal_project(file: Path) -> dict[str, Any]:
    """The fields that are taken from `[project]` in this file."""
    project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
    guest = project["optional-dependencies"]["guest"]
    dependencies = [each for each in project["dependencies"] if each not in guest]
    return {name: project[name] for name in _SHARED} | {"dependencies": dependencies}
