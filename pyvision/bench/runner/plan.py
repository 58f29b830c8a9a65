"""What to run: the samples, how each is answered, how many at once, and where the results go."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pyvision.agent.episode import Sandbox
from pyvision.bench.datasets.sources import Source
from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError
from pyvision.solve import Task, prepare

if TYPE_CHECKING:
    from pyvision.bench.ablations import Arm

AS_IT_IS = "tools"  # the arm that changes nothing
_PLACEHOLDER = "?"  # the question of the task that all samples' tasks are made of

Around: TypeAlias = Callable[[Sandbox, Sample], Sandbox]
"""The sandbox of one sample, made of the one that all share."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One experiment. settings: those of `pyvision.solve.prepare`, the same for every sample.

    folder: None for one under runs/ that is named after the experiment, so that the same plan finds it again.
    metric: NAME[:FLAVOUR]; None for the source's own, or what each sample names. arm: of an audit
    (`pyvision.bench.ablations`); donors: the experiment whose figures the arm `swapped` shows.
    """

    source: Source
    settings: Mapping[str, Any] = field(default_factory=dict)
    limit: int | None = None
    repeats: int = 1
    workers: int = 4
    folder: Path | None = None
    metric: str | None = None
    engine: str = "threads"
    arm: str = AS_IT_IS
    donors: Path | None = None

    def task(self) -> Task:
        """The task that each sample's is made of; its owner closes it. Raises ConfigError."""
        forced = self.found_arm().strategy
        return prepare(
            _PLACEHOLDER, **(self.settings if forced is None else {**self.settings, "strategy": forced})
        )

    def samples(self) -> Iterator[Sample]:
        """Those that the arm can answer, in order."""
        arm = self.found_arm()
        return (sample for sample in self.source.samples(self.limit) if arm.can_answer(sample))

    def count(self) -> int | None:
        """How many there are, where that can be known beforehand."""
        whole = self.source.counted(self.limit)
        return sum(1 for _ in self.samples()) if whole is not None and self.found_arm().needs_box else whole

    def around(self) -> Around:
        """What the arm makes of the sandbox for each sample. Reads the donors. Raises ConfigError."""
        from pyvision.bench.ablations import read_donors

        arm = self.found_arm()
        donors = read_donors(self.donors) if self.donors else {}
        return lambda sandbox, sample: arm.around(sandbox, sample, donors)

    def found_arm(self) -> Arm:
        """The arm of that name. Raises ConfigError for an unknown one, or one without what it needs."""
        from pyvision.bench.ablations import ARMS

        known = {arm.name: arm for arm in ARMS}
        if self.arm not in known:
            raise ConfigError(f"unknown arm {self.arm!r}; known arms are {', '.join(known)}")
        if self.arm == "swapped" and self.donors is None:
            raise ConfigError("arm 'swapped' shows another run's figures; name that run: --donors DIR")
        return known[self.arm]
