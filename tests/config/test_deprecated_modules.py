"""Module paths and names of the release before: they still work, and they warn.

Covered: modules, packages and modules inside them, the classes of events, recorded runs of version 1.
Not covered: names that no document mentioned.
"""

from __future__ import annotations

import json
import sys
import warnings
from importlib import import_module
from pathlib import Path

import pytest

import pyvision.events
from pyvision.config.deprecated_modules import MOVED
from pyvision.trajectory import read_trajectory
from pyvision.types import Message, Text


def import_old(name: str) -> object:
    sys.modules.pop(name, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import_module(name.rpartition(".")[0])  # which may have moved too, with a warning of its own
    return import_module(name)


@pytest.mark.parametrize("old", MOVED)
def test_a_module_that_moved_is_found_under_its_old_path(old: str) -> None:
    with pytest.warns(DeprecationWarning, match=MOVED[old]):
        assert import_old(old) is import_module(MOVED[old])


def test_a_module_in_a_package_that_moved_is_found_under_its_old_path() -> None:
    with pytest.warns(DeprecationWarning, match=r"pyvision\.runs\.report\.page"):
        assert import_old("pyvision.report.page") is import_module("pyvision.runs.report.page")


def test_a_module_keeps_its_own_name_when_it_is_imported_by_its_old_path() -> None:
    with pytest.warns(DeprecationWarning, match=r"pyvision\.config\.prices"):
        import_old("pyvision.prices")
    spec = import_module("pyvision.config.prices").__spec__
    assert spec is not None
    assert spec.name == "pyvision.config.prices"


def test_an_unknown_module_is_not_found() -> None:
    with pytest.raises(ModuleNotFoundError):
        import_module("pyvision.nothing")


@pytest.mark.parametrize(
    ("old", "new"), [("Began", "RunStarted"), ("Asked", "ModelCall"), ("Ended", "RunEnded")]
)
def test_an_event_is_found_under_its_old_name(old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=new):
        assert getattr(pyvision.events, old) is getattr(pyvision.events, new)


def test_a_run_of_version_1_is_read_with_the_conversation_before_it(tmp_path: Path) -> None:
    message = {"role": "user", "parts": [{"text": "How many?"}]}
    earlier = {"talk": [message], "named": 1, "originals": [0], "is_open": True}
    question = {"text": "And now?", "images": [], "earlier": earlier}
    began = {"kind": "began", "question": question, "strategy": "code_loop", "models": {}}
    lines = [{"format": "pyvision-trajectory", "version": 1}, began]
    (tmp_path / "events.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
    )
    (event,) = read_trajectory(tmp_path).events
    assert isinstance(event, pyvision.events.RunStarted)
    assert event.question.earlier.messages == (Message("user", (Text("How many?"),)),)
    assert event.question.earlier.pending
