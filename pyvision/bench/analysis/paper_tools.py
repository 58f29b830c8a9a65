"""How often each class of tools was used in the PyVision paper, by benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyvision.bench.analysis.tool_rules import ToolClass

SOURCE = "PyVision, arXiv 2507.07998, Figure 9"


@dataclass(frozen=True, slots=True)
class PaperCounts:
    """Blocks of code by class, as the paper's figure tells them."""

    basic: int
    advanced: int
    prompting: int
    numerical: int
    other: int

    def share(self, name: ToolClass) -> float:
        """Of all blocks, from 0 to 1."""
        counts: Mapping[ToolClass, int] = {
            "basic": self.basic,
            "advanced": self.advanced,
            "prompting": self.prompting,
            "numerical": self.numerical,
            "other": self.other,
        }
        return counts[name] / sum(counts.values())


PAPER_COUNTS: Mapping[str, PaperCounts] = {
    "mathvision": PaperCounts(250, 43, 122, 291, 256),
    "mathvista": PaperCounts(565, 336, 231, 964, 695),
    "mmmu": PaperCounts(403, 41, 52, 1207, 733),
    "visualpuzzles": PaperCounts(1850, 346, 362, 853, 782),
    "vlmsareblind": PaperCounts(499, 2583, 204, 1918, 1150),
    "vstar": PaperCounts(801, 6, 18, 53, 82),
}
"""Benchmark, in small letters without punctuation -> counts."""


_OUR_NAMES = {"v*": "vstar", "blind": "vlmsareblind"}  # of rows of the table of datasets


def paper_counts(dataset: str) -> PaperCounts | None:
    """The counts of the benchmark that a dataset's name begins with (`mmmu-val`, `V*`), or None."""
    name = dataset.lower()
    for ours, theirs in _OUR_NAMES.items():
        name = theirs if name.startswith(ours) else name
    letters = "".join(letter for letter in name if letter.isalnum())
    return next((counts for known, counts in PAPER_COUNTS.items() if letters.startswith(known)), None)
