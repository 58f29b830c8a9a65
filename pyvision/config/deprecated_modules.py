"""Modules under the paths that they had before version 0.2: importing one warns, and gives the module of today."""

from __future__ import annotations

import warnings
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "pyvision.budget": "pyvision.agent.budget",
    "pyvision.episode": "pyvision.agent.episode",
    "pyvision.limits": "pyvision.config.provider_limits",
    "pyvision.outputs": "pyvision.text.sanitize",
    "pyvision.prices": "pyvision.config.prices",
    "pyvision.profiles": "pyvision.config.profiles",
    "pyvision.prompts": "pyvision.text.prompts",
    "pyvision.replay": "pyvision.runs.replay",
    "pyvision.replies": "pyvision.text.replies",
    "pyvision.report": "pyvision.runs.report",
    "pyvision.tools.cells": "pyvision.tools.cell_functions",
    "pyvision.tools.index": "pyvision.tools.retrieval",
    "pyvision.tools.table": "pyvision.tools.registry",
    "pyvision.training": "pyvision.experiments.vdebugger_training",
}


def new_name(name: str) -> str | None:
    """The path of today for a module that has moved, or that lies in a package that has."""
    for old, new in MOVED.items():
        if name == old or name.startswith(f"{old}."):
            return new + name.removeprefix(old)
    return None


def find_moved(name: str) -> ModuleSpec | None:
    """How to load a module by its old path; None for any other."""
    new = new_name(name)
    return None if new is None else ModuleSpec(name, _Moved(new))


class _Moved(Loader):
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
