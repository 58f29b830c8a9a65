"""The command that runs an experiment again, from the configuration that its store keeps."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

_LIMITS = ("max_turns", "max_tokens", "max_pictures", "max_bytes", "max_seconds", "max_cost", "max_uses")
_UNLESS_USUAL = (  # flag of `bench run`, key of the configuration, what the flag is where nobody gives it
    ("--ablation", "arm", "tools"),
    ("--swap-from", "donors", None),
    ("--limit", "limit", None),
    ("--repeat", "repeats", 1),
)
MODEL_FILE = "MODEL.json"


def reproduce_command(configuration: Mapping[str, Any]) -> str:
    """For a shell. A model that no name stands for is in MODEL_FILE: the `model` part of the configuration.

    Empty where the configuration names no dataset.
    """
    dataset = _mapping(configuration, "dataset")
    if not dataset.get("source"):
        return ""
    words = ("python", "-m", "pyvision", "bench", "run", *_dataset(dataset), *_how(configuration))
    return shlex.join(words)


def what_it_needs(configuration: Mapping[str, Any]) -> tuple[str, ...]:
    """A sentence for each thing that has to be there before that command does the same."""
    dataset, roles = _mapping(configuration, "dataset"), _mapping(configuration, "roles")
    needs = (
        (
            dataset.get("kind") == "file" and not dataset.get("name"),
            f"{dataset.get('source')} is to lie here.",
        ),
        (
            _main_model(configuration) is None,
            f"{MODEL_FILE} is to hold the configuration's part `model`, and how to find the key.",
        ),
        (
            any(name_of(described) is None for described in roles.values()),
            "The environment is to give the roles' models the settings that stand in the configuration.",
        ),
        (
            bool(configuration.get("donors")),
            f"{configuration.get('donors')} is the folder of the run whose figures were shown.",
        ),
        (_mapping(configuration, "limits").get("max_cost") is not None, "--prices is to name a price table."),
    )
    return tuple(sentence for is_needed, sentence in needs if is_needed)


def name_of(described: Mapping[str, Any]) -> str | None:
    """The model as `--model` takes it: NAME or NAME:MODEL-ID. None for one that only a file or a variable gives."""
    names = (name for stem in _shipped() for name in (stem, f"{stem}:{described.get('model')}"))
    return next((name for name in names if described and _describe(name) == described), None)


def _shipped() -> tuple[str, ...]:
    from pyvision.config.files import data_folder
    from pyvision.config.model_config import TABLES

    stems = (path.stem for path in data_folder("api_configs").glob("*.json"))
    return tuple(sorted(stem for stem in stems if stem not in TABLES))


def _describe(name: str) -> Mapping[str, Any]:
    """What a name stands for, whatever the environment holds; empty where it needs more than a key."""
    from pyvision.config.model_config import load_model_config, without_secrets
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
    for flag, key, usual in _UNLESS_USUAL:
        if configuration.get(key, usual) != usual:
            yield from (flag, str(configuration[key]))
    yield from _limits(configuration)


def _main_model(configuration: Mapping[str, Any]) -> str | None:
    described = _mapping(configuration, "model")
    return "offline" if described.get("wire") == "offline" else name_of(described)


def _role_model(described: Mapping[str, Any]) -> str:
    """A role is played by a name; where variables changed what it stands for, the one that is most like it."""
    alike = max(_shipped(), key=lambda stem: len(_plain(_describe(stem)) & _plain(described)))
    return name_of(described) or (f"{alike}:{described['model']}" if described.get("model") else alike)


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
