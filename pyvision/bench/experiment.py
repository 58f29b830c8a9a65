"""The configuration of an experiment: everything that its numbers depend on, and the command that reproduces them."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyvision.config.files import data_folder, package_version

if TYPE_CHECKING:  # a report reads configurations without loading what runs experiments
    from pyvision.agent.task import Task
    from pyvision.bench.runner.plan import Plan

MODEL_FILE = "MODEL.json"
_LIMITS = ("max_turns", "max_tokens", "max_pictures", "max_bytes", "max_seconds", "max_cost", "max_uses")
_DEFAULT_ABLATION = "tools"
_UNLESS_DEFAULT = (  # flag of `bench run`, key of the configuration, default of the flag
    ("--ablation", "arm", _DEFAULT_ABLATION),
    ("--swap-from", "donors", None),
    ("--limit", "limit", None),
    ("--repeat", "repeats", 1),
)
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
_SHOWN = 60  # characters of a value in a message


def configuration(plan: Plan, task: Task) -> dict[str, Any]:
    """Everything that the numbers of an experiment depend on, without secrets, as plain JSON values.

    task: the common part of all samples' tasks. Not included: the number of workers, the folder, and the metric.
    """
    values = {
        "dataset": plan.source.identity,
        **task.config.common_settings(),
        "arm": plan.ablation,
        "donors": plan.swap_from and plan.swap_from.resolve().name,
        "limit": plan.limit,
        "repeats": plan.repeats,
        "prompts": _prompts_hash(),
        "version": package_version(),
    }
    plain: dict[str, Any] = json.loads(json.dumps(values, default=str, sort_keys=True))
    return plain


def default_folder(plan: Plan, task: Task, configured: Mapping[str, Any]) -> Path:
    """The folder of an experiment without --out: under runs/, named after its configuration."""
    model = next(iter(task.models.values())).name
    source = Path(plan.source.name).stem if plan.source.identity.get("kind") == "file" else plan.source.name
    ablation = () if plan.ablation == _DEFAULT_ABLATION else (plan.ablation,)
    named = "-".join(
        _UNFIT.sub("_", part).strip("._") for part in (source, task.strategy_name, *ablation, model)
    )
    return Path("runs") / "bench" / f"{named}-{_short_hash(configured)}"


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, ...]:
    """Each setting that differs, as `limits.max_turns: 20 -> 5`; empty if the two are equal."""
    before, after = dict(_leaves(old)), dict(_leaves(new))
    paths = sorted(before.keys() | after.keys())
    parents = {
        path[:-1] for path in paths
    }  # that one of them holds nothing is seen from what the other holds
    return tuple(
        f"{'.'.join(path)}: {_render(before.get(path))} -> {_render(after.get(path))}"
        for path in paths
        if before.get(path) != after.get(path) and path not in parents
    )


def reproduce_command(configuration: Mapping[str, Any]) -> str:
    """The shell command that runs the experiment again; empty if the configuration names no dataset.

    A model that has no name is read from MODEL_FILE, which must hold the `model` part of the configuration.
    """
    dataset = _mapping(configuration, "dataset")
    if not dataset.get("source"):
        return ""
    command = ("python", "-m", "pyvision", "bench", "run", *_dataset(dataset), *_how(configuration))
    return shlex.join(command)


def reproduce_requirements(configuration: Mapping[str, Any]) -> tuple[str, ...]:
    """A sentence for each thing that the command needs in order to give the same results."""
    dataset, roles = _mapping(configuration, "dataset"), _mapping(configuration, "roles")
    needs = (
        (
            dataset.get("kind") == "file" and not dataset.get("name"),
            f"{dataset.get('source')} must be in the current folder.",
        ),
        (
            _main_model(configuration) is None,
            f"{MODEL_FILE} must hold the `model` part of the configuration, and where to find the API key.",
        ),
        (
            any(model_name_of(described) is None for described in roles.values()),
            "The environment must give the models of the roles the settings in the configuration.",
        ),
        (
            bool(configuration.get("donors")),
            f"{configuration.get('donors')} is the folder of the run whose figures were swapped in.",
        ),
        (_mapping(configuration, "limits").get("max_cost") is not None, "--prices must name a price table."),
    )
    return tuple(sentence for is_needed, sentence in needs if is_needed)


def model_name_of(described: Mapping[str, Any]) -> str | None:
    """The model as `--model` takes it: NAME or NAME:MODEL-ID. None for one that only a file or variable defines."""
    names = (name for stem in _preset_names() for name in (stem, f"{stem}:{described.get('model')}"))
    return next((name for name in names if described and _describe(name) == described), None)


def _short_hash(configured: Mapping[str, Any]) -> str:
    """Eight characters that differ between experiments."""
    return hashlib.sha256(json.dumps(configured, sort_keys=True).encode()).hexdigest()[:8]


def _prompts_hash() -> str:
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


def _preset_names() -> tuple[str, ...]:
    from pyvision.config.files import data_folder
    from pyvision.config.model_config import TABLES

    stems = (path.stem for path in data_folder("api_configs").glob("*.json"))
    return tuple(sorted(stem for stem in stems if stem not in TABLES))


def _describe(name: str) -> Mapping[str, Any]:
    """The configuration of a named model, independent of the environment; empty if it needs more than a key."""
    from pyvision.config.model_config import load_model_config
    from pyvision.config.secret_fields import without_secrets
    from pyvision.errors import ConfigError

    try:
        return without_secrets(load_model_config(name, None, {"PYVISION_API_KEY": "any"}))
    except ConfigError:
        return {}


def _dataset(dataset: Mapping[str, Any]) -> Iterator[str]:
    if dataset.get("kind") != "synthetic":
        yield str(dataset.get("name") or dataset["source"])
        return
    yield f"synthetic/{dataset['source']}"
    for key in ("count", "seed", "difficulty"):
        if key in dataset:
            yield from (f"--{key}", str(dataset[key]))


def _how(configuration: Mapping[str, Any]) -> Iterator[str]:
    model = _main_model(configuration)
    yield from ("--model", model) if model else ("--config", MODEL_FILE)
    if configuration.get("strategy"):
        yield from ("--strategy", str(configuration["strategy"]))
    for key, value in _mapping(configuration, "options").items():
        yield from ("--set", f"{key}={'none' if value is None else value}")
    for role, described in _mapping(configuration, "roles").items():
        yield from ("--role", f"{role}={_role_model(described)}")
    for tool, provider in _mapping(configuration, "tools").items():
        yield from ("--tool", f"{tool}={provider}")
    for flag, key, default in _UNLESS_DEFAULT:
        if configuration.get(key, default) != default:
            yield from (flag, str(configuration[key]))
    yield from _limits(configuration)


def _main_model(configuration: Mapping[str, Any]) -> str | None:
    described = _mapping(configuration, "model")
    return "offline" if described.get("wire") == "offline" else model_name_of(described)


def _role_model(described: Mapping[str, Any]) -> str:
    """The name of a role's model; where variables changed its settings, the name of the most similar one."""
    model = f":{described['model']}" if described.get("model") else ""
    names = [f"{stem}{model}" for stem in _preset_names()]
    return model_name_of(described) or min(
        names, key=lambda name: len(_plain(_describe(name)) ^ _plain(described))
    )


def _plain(described: Mapping[str, Any]) -> set[tuple[str, Any]]:
    return {(key, value) for key, value in described.items() if isinstance(value, str | int | float)}


def _limits(configuration: Mapping[str, Any]) -> Iterator[str]:
    limits, policy = _mapping(configuration, "limits"), _mapping(configuration, "policy")
    for key in _LIMITS:
        if limits.get(key) is not None:
            yield from (f"--{key.replace('_', '-')}", str(limits[key]))
    if policy.get("cell_timeout_s") is not None:
        yield from ("--cell-timeout", str(policy["cell_timeout_s"]))


def _mapping(configuration: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = configuration.get(key)
    return found if isinstance(found, Mapping) else {}
