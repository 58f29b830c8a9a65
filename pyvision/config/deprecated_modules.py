"""Modules under the paths that they had before version 0.2: importing one warns, and gives the module of today.

Every `import pyvision` loads this file, so it imports nothing slow.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.abc import Loader
    from importlib.machinery import ModuleSpec
    from types import ModuleType

MOVED = {
    "pyvision.budget": "pyvision.agent.budget",
    "pyvision.episode": "pyvision.agent.episode",
    "pyvision.limits": "pyvision.config.endpoints",
    "pyvision.outputs": "pyvision.text.sanitize",
    "pyvision.prices": "pyvision.config.prices",
    "pyvision.profiles": "pyvision.config.endpoints",
    "pyvision.prompts": "pyvision.text.prompts",
    "pyvision.replay": "pyvision.runs.replay",
    "pyvision.replies": "pyvision.text.replies",
    "pyvision.report": "pyvision.runs.report",
    "pyvision.report.markup": "pyvision.pages.markup",
    "pyvision.report.run": "pyvision.runs.run",
    "pyvision.tools.cells": "pyvision.tools.cell_functions",
    "pyvision.tools.index": "pyvision.tools.retrieval",
    "pyvision.tools.table": "pyvision.tools.registry",
    "pyvision.training": "pyvision.experiments.vdebugger_training",
}


class DeprecatedModules:
    """A finder for `sys.meta_path` that knows the old paths, and no other."""

    @staticmethod
    def find_spec(
        fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """How to load a module by its old path; None for any other."""
        if not fullname.startswith("pyvision.") or (new := _new_name(fullname)) is None:
            return None
        from importlib.machinery import ModuleSpec

        return ModuleSpec(fullname, cast("Loader", _Loader(new)))


class _Loader:
    """Gives the module of today in place of the one that was asked for."""

    def __init__(self, new: str) -> None:
        self._new = new
        self._own_spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        warnings.warn(f"{spec.name} is now {self._new}", DeprecationWarning, stacklevel=2)
        module = import_module(self._new)
        self._own_spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._own_spec


def _new_name(name: str) -> str | None:
    """The path of today for a module that has moved, or that lies in a package that has."""
    olds = [old for old in MOVED if name == old or name.startswith(f"{old}.")]
    if not olds:
        return None
    old = max(olds, key=len)  # a module may have moved further than its package
    return MOVED[old] + name.removeprefix(old)
