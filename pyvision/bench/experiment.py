"""What an experiment is: everything that its numbers depend on, as plain values that can be compared."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pyvision.bench.runner.plan import DEFAULT_ABLATION, Plan
from pyvision.config.files import data_folder
from pyvision.solve import Task

_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
_SHOWN = 60  # characters of a value in a complaint


def configuration(plan: Plan, task: Task) -> dict[str, Any]:
    """The fingerprint of an experiment, without secrets, as JSON gives it back.

    task: the common part of all samples' tasks. Not in it: how many work at once, where, and how it is graded.
    """
    from importlib.metadata import version

    whole = {
        "dataset": plan.source.identity,
        **task.config.shared(),
        "arm": plan.ablation,
        "donors": plan.swap_from and plan.swap_from.resolve().name,
        "limit": plan.limit,
        "repeats": plan.repeats,
        "prompts": prompts_hash(),
        "version": version("pyvision"),
    }
    plain: dict[str, Any] = json.loads(json.dumps(whole, default=str, sort_keys=True))
    return plain


def usual_folder(plan: Plan, task: Task, configured: Mapping[str, Any]) -> Path:
    """Where an experiment lies when nobody says where: under runs/, named after what it is."""
    model = next(iter(task.models.values())).name
    source = Path(plan.source.name).stem if plan.source.identity.get("kind") == "file" else plan.source.name
    ablation = () if plan.ablation == DEFAULT_ABLATION else (plan.ablation,)
    named = "-".join(
        _UNFIT.sub("_", part).strip("._") for part in (source, task.strategy_name, *ablation, model)
    )
    return Path("runs") / "bench" / f"{named}-{short_hash(configured)}"


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, ...]:
    """Each setting that is not the same, as `limits.max_turns: 20 -> 5`; none where the two are equal."""
    before, after = dict(_leaves(old)), dict(_leaves(new))
    return tuple(
        f"{'.'.join(path)}: {_render(before.get(path))} -> {_render(after.get(path))}"
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
    )


def short_hash(configured: Mapping[str, Any]) -> str:
    """Eight characters that differ between experiments."""
    return hashlib.sha256(json.dumps(configured, sort_keys=True).encode()).hexdigest()[:8]


def prompts_hash() -> str:
    """One hash over the names and contents of all prompt files."""
    folder, found = data_folder("prompts"), hashlib.sha256()
    for path in sorted(
        path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    ):
        found.update(f"{path.relative_to(folder).as_posix()}\0{_file_hash(path)}\n".encode())
    return found.hexdigest()[:16]


def _file_hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _leaves(value: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every leaf as JSON, with the keys that lead to it; an empty mapping below the top is a leaf."""
    for key, inner in value.items():
        if isinstance(inner, Mapping) and inner:
            yield from _leaves(inner, (*above, key))
        else:
            yield (*above, key), json.dumps(inner, ensure_ascii=False)


def _render(leaf: str | None) -> str:
    if leaf is None:
        return "(absent)"
    return leaf if len(leaf) <= _SHOWN else f"{leaf[:_SHOWN]}…"
