"""Before the first sample: is the model there, and does a cell run? A dead one refuses to start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyvision.agent.episode import DEFAULT_ROLE, Sandbox
from pyvision.models.factory import ResolvedModel
from pyvision.solve import Task
from pyvision.types import Message, Model, Sampling, Text
from sandbox import SandboxError

_QUESTION = "Reply with the one word: ready"
_SECONDS = 60.0  # retries included
_PLAYED_BACK = (
    "scripted",
    "replayed",
)  # these say what they were given, and a question more would be one too many


def check_models(task: Task) -> None:
    """Ask each model of the task one tiny question; any reply will do. Raises ModelError."""
    described = {DEFAULT_ROLE: task.config.model, **task.config.roles}
    asked = {
        id(model): model
        for role, model in task.models.items()
        if not _is_played_back(described.get(role, {}))
    }
    for model in asked.values():
        _ask(model)


def check_model(resolved: ResolvedModel) -> None:
    """The same for one model. Raises ModelError."""
    if not _is_played_back(resolved.described):
        _ask(resolved.model)


def check_sandbox(task: Task, sandbox: Sandbox) -> None:
    """Run one cell, where the strategy runs any. Raises SandboxError when it does not do what it is told."""
    if not task.strategy.runs_code:
        return
    session = sandbox.open({})
    try:
        result = session.run("print(1 + 1)")
    finally:
        session.close()
    if (result.status, result.text.strip()) != ("ok", "2"):
        told = result.error.message if result.error else result.text[:200]
        raise SandboxError(f"a cell that prints 1 + 1 ended {result.status}: {told!r}; see `pyvision doctor`")


def _ask(model: Model) -> None:
    model.complete((Message("user", (Text(_QUESTION),)),), Sampling(seconds=_SECONDS))


def _is_played_back(described: Mapping[str, Any]) -> bool:
    return described.get("wire") in _PLAYED_BACK
