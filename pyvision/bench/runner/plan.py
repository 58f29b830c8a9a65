"""The plan of an experiment: which samples, how they are answered, how many at once, and where results go."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pyvision.agent.episode import Sandbox
from pyvision.agent.task import Task
from pyvision.bench.datasets.sources import SampleSource
from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError, suggest
from pyvision.solve import prepare

if TYPE_CHECKING:
    from pyvision.bench.ablations import Ablation

DEFAULT_ABLATION = "tools"  # changes nothing
_PLACEHOLDER = "?"  # the question of the task from which each sample's is derived

Around: TypeAlias = Callable[[Sandbox, Sample], Sandbox]
"""Makes the sandbox of one sample from the shared one."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One experiment. settings: those of `pyvision.solve.prepare`, the same for every sample.

    folder: None for one under runs/ that is named after the experiment, so that the same plan finds it again.
    metric: NAME[:FLAVOUR]; None for that of the source or of each sample. ablation: one of `pyvision.bench.ablations`;
    swap_from: the experiment whose figures the ablation `swapped` shows, or whose results `result_only` shows. waits:
    pause for models that fail, instead of ending.
    """

    source: SampleSource
    settings: Mapping[str, Any] = field(default_factory=dict)
    limit: int | None = None
    repeats: int = 1
    workers: int = 4
    folder: Path | None = None
    metric: str | None = None
    engine: str = "threads"
    ablation: str = DEFAULT_ABLATION
    swap_from: Path | None = None
    waits: bool = False

    def task(self) -> Task:
        """The task from which each sample's is derived; the caller closes it. Raises ConfigError."""
        forced = self.find_ablation().strategy
        return prepare(
            _PLACEHOLDER, **(self.settings if forced is None else {**self.settings, "strategy": forced})
        )

    def samples(self) -> Iterator[Sample]:
        """The samples that the ablation can answer, in order."""
        ablation = self.find_ablation()
        samples = (sample for sample in self.source.samples(self.limit) if ablation.can_answer(sample))
        return ablation.ask(samples, self.swap_from)

    def count(self) -> int | None:
        """The number of samples, if it can be known beforehand."""
        whole = self.source.count_samples(self.limit)
        return (
            sum(1 for _ in self.samples()) if whole is not None and self.find_ablation().needs_box else whole
        )

    def around(self) -> Around:
        """How the ablation changes the sandbox for each sample. Reads `swap_from`. Raises ConfigError."""
        from pyvision.bench.ablations import read_figures_to_swap

        ablation = self.find_ablation()
        swapped = self.swap_from if self.ablation == "swapped" else None
        swap_from = read_figures_to_swap(swapped) if swapped else {}
        return lambda sandbox, sample: ablation.around(sandbox, sample, swap_from)

    def find_ablation(self) -> Ablation:
        """The ablation of that name. Raises ConfigError if it is unknown, or if `swap_from` is missing."""
        from pyvision.bench.ablations import ABLATIONS

        known = {ablation.name: ablation for ablation in ABLATIONS}
        if self.ablation not in known:
            raise ConfigError(
                f"unknown ablation {self.ablation!r}; {suggest(self.ablation, known, 'known ablations are')}"
            )
        if known[self.ablation].needs_run and self.swap_from is None:
            raise ConfigError(
                f"ablation {self.ablation!r} shows what another run's cells returned; name that run with "
                "--swap-from DIR"
            )
        return known[self.ablation]
