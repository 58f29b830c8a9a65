"""The harness card of an experiment: all that surrounds the model and the strategy and that a score also depends on.

Prompts, parser and protocol are recorded as hashes of their files; limits, image sizes, versions and the tier
of the machine as values. A card is stored under its own hash, so that an experiment that is resumed elsewhere has two.
Not covered: the nodes of a cluster, whose cards are taken to be that of the machine which drives the run.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyvision.bench.experiment import differences
from pyvision.bench.store import Store
from pyvision.config.files import data_folder, package_version
from pyvision.errors import ConfigError

if TYPE_CHECKING:  # a report reads cards without loading what answers questions
    from pyvision.agent.task import Task

_PACKAGES = (  # what reads, sends or computes; cells of the guest import the same
    "numpy",
    "pillow",
    "matplotlib",
    "opencv-python-headless",
    "scikit-image",
    "scipy",
    "ipykernel",
    "pyzmq",
    "openai",
    "anthropic",
    "httpx2",
)
_CODE = {"parser": "pyvision.text", "protocol": "pyvision.models"}
_COMPARED = {  # key of the configuration -> as it is shown
    "strategy": "strategy",
    "options": "options",
    "model": "model",
    "roles": "roles",
    "tools": "tools",
    "arm": "ablation",
    "donors": "swap_from",
}
_CARD_OF_OLD = (
    "limits",
    "policy",
    "prompts",
    "version",
)  # what the configuration of an older release has of it
_GIB = 2**30


def harness_card(task: Task) -> dict[str, Any]:
    """The card of a run, as plain JSON values without secrets."""
    shared = task.config.common_settings()
    card = {
        "prompts": _hashes(data_folder("prompts")),
        **{name: _hash_package(package) for name, package in _CODE.items()},
        "limits": {**shared["limits"], **shared["policy"]},
        "images": {role: asdict(limits.fit) for role, limits in task.accepts.items()},
        "versions": {"python": platform.python_version(), **dict(_versions())},
        "machine": _machine_tier(),
    }
    plain: dict[str, Any] = json.loads(json.dumps(card, default=str, sort_keys=True))
    return plain


def card_hash(card: Mapping[str, Any]) -> str:
    """Twelve characters that identify a card."""
    return hashlib.sha256(json.dumps(card, sort_keys=True).encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Differences:
    """How experiments differ from the first of them, a line each. compared: what a comparison is about, such as the
    model. harness: what it should not be about."""

    compared: tuple[str, ...]
    harness: tuple[str, ...]


NO_DIFFERENCES = Differences((), ())


def compare_settings(folders: Sequence[Path], *, strict: bool = False) -> Differences:
    """The differences of the models and strategies, and of the harnesses, also those within one experiment.

    Raises ConfigError for a folder without an experiment; with `strict`, also if the harnesses differ.
    """
    first, *others = (_read(folder) for folder in folders)
    compared = [f"{each.name}: {line}" for each in others for line in _between_compared(first, each)]
    harness = [line for each in (first, *others) for line in _within(each)]
    harness += [f"{each.name}: {line}" for each in others for line in _between(first, each)]
    if harness and strict:
        raise ConfigError(
            f"the harnesses differ from that of {first.name}: {'; '.join(harness)}; run the experiments "
            "again under one harness, or omit --strict"
        )
    return Differences(tuple(compared), tuple(harness))


@dataclass(frozen=True, slots=True)
class _Found:
    """The cards of one experiment, by hash, and its configuration."""

    name: str
    configuration: Mapping[str, Any]
    cards: Mapping[str, Mapping[str, Any]]

    @property
    def card(self) -> Mapping[str, Any] | None:
        """That under which the experiment began; None for one of an older release."""
        return next(iter(self.cards.values()), None)

    def settings(self, keys: Sequence[str]) -> dict[str, Any]:
        return {key: self.configuration[key] for key in keys if key in self.configuration}


def _read(folder: Path) -> _Found:
    with Store(folder) as store:
        return _Found(folder.resolve().name, store.configuration, store.harnesses())


def _within(found: _Found) -> Iterator[str]:
    first, *others = found.cards.values() or [{}]
    for other in others:
        for line in differences(first, other):
            yield f"{found.name} was resumed with {line}"


def _between_compared(first: _Found, second: _Found) -> tuple[str, ...]:
    """Options are compared only within one strategy: another one has other options."""
    is_same = first.configuration.get("strategy") == second.configuration.get("strategy")
    keys = [key for key in _COMPARED if is_same or key != "options"]
    before, after = (
        {_COMPARED[key]: value for key, value in each.settings(keys).items()} for each in (first, second)
    )
    return differences(before, after)


def _between(first: _Found, second: _Found) -> Iterator[str]:
    if first.card is None or second.card is None:
        without = " and ".join(each.name for each in (first, second) if each.card is None)
        yield f"no harness card in {without} (an older release); limits, prompts and version are compared alone"
        yield from differences(first.settings(_CARD_OF_OLD), second.settings(_CARD_OF_OLD))
        return
    yield from differences(first.card, second.card)


def _hashes(folder: Path) -> dict[str, str]:
    """File below the folder -> its hash."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()[:12]
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def _hash_package(package: str) -> str:
    """One hash over the sources of a package."""
    sources = {
        name: each for name, each in _hashes(Path(str(files(package)))).items() if name.endswith(".py")
    }
    return card_hash(sources)


def _versions() -> Iterator[tuple[str, str]]:
    yield "pyvision", package_version()
    for package in _PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue


def _machine_tier() -> dict[str, Any]:
    """What decides whether a cell ends within its limits: kind, processors and memory, to the next power of two."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cpus": _power_of_two(len(os.sched_getaffinity(0))),
        "memory_gib": _power_of_two(round(memory / _GIB)),
    }


def _power_of_two(number: int) -> int:
    return 1 << max(0, number - 1).bit_length()
