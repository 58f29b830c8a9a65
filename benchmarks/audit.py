"""Check that audits find known effects: a simulated model with planted effects, audited many times.

python -m benchmarks.audit [--runs N] [--samples N] [--repeats K]

Each kind of sample is solved in some ablations and not in others; then a share of all answers is flipped at random. The
true effects follow from these numbers. The table shows how often the 95 % interval contains them: about 95 of 100.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyvision.bench.analysis.audit import Audit, audit_table
from pyvision.bench.samples import Record, Result, Score

ABLATIONS = ("direct", "tools", "not_run", "blank", "swapped", "oracle")
SLIP = 0.05  # the share of answers that are flipped at random


@dataclass(frozen=True, slots=True)
class SampleKind:
    """A share of the samples, and the ablations that solve them. figures: whether their cells show any."""

    name: str
    share: float
    solved_in: frozenset[str]
    figures: bool = True

    def right(self, ablation: str) -> float:
        """The probability of a right answer."""
        return 1 - SLIP if ablation in self.solved_in else SLIP


KINDS = (
    SampleKind("easy", 0.30, frozenset(ABLATIONS)),
    SampleKind("hard", 0.12, frozenset()),
    SampleKind("needs the printed number", 0.15, frozenset(ABLATIONS) - {"direct", "not_run"}, figures=False),
    SampleKind("needs the figure", 0.20, frozenset({"tools", "oracle"})),
    SampleKind("needs a figure to think", 0.05, frozenset(ABLATIONS) - {"direct", "not_run"}),
    SampleKind("needs the form", 0.06, frozenset(ABLATIONS) - {"direct"}),
    SampleKind("harmed by tools", 0.05, frozenset({"direct"})),
    SampleKind("looked in the wrong place", 0.07, frozenset({"oracle"})),
)


def simulate(seed: int, samples: int, repeats: int = 1) -> dict[str, list[Result]]:
    """Records of every ablation over the same samples."""
    generator = random.Random(seed)
    kinds = generator.choices(KINDS, [kind.share for kind in KINDS], k=samples)
    return {
        ablation: [
            _answer(number, repeat, kind, generator.random() < kind.right(ablation))
            for number, kind in enumerate(kinds)
            for repeat in range(repeats)
        ]
        for ablation in ABLATIONS
    }


def planted() -> dict[str, float]:
    """The true effects, by the key of the finding."""
    return {
        "only_with_tools": _only("tools", "direct"),
        "harmed": _only("direct", "tools"),
        "gain": _accuracy("tools") - _accuracy("direct"),
        "execution": _accuracy("tools") - _accuracy("not_run"),
        "form": _accuracy("not_run") - _accuracy("direct"),
        "blank": _keep("tools", "blank"),
        "swapped": _keep("tools", "swapped"),
        "oracle": _only("oracle", "tools"),
    }


def covered(audits: Sequence[Audit], truth: Mapping[str, float]) -> dict[str, int]:
    """Key of a finding -> in how many audits its interval contains the truth."""
    counts = dict.fromkeys(truth, 0)
    for audit in audits:
        for finding in audit.findings:
            counts[finding.key] += finding.estimate is not None and finding.estimate.holds(truth[finding.key])
    return counts


def main(arguments: Sequence[str] | None = None) -> None:
    """Audit the simulated model many times and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.audit", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--runs", type=int, default=100, help="audits, each with another seed (default 100)")
    parser.add_argument("--samples", type=int, default=300, help="samples per audit (default 300)")
    parser.add_argument(
        "--repeats", type=int, default=1, help="answers per sample in each ablation (default 1)"
    )
    options = parser.parse_args(arguments)
    runs = range(options.runs)
    audits = [audit_table(simulate(seed, options.samples, options.repeats)) for seed in runs]
    print(table(audits, planted()))


def table(audits: Sequence[Audit], truth: Mapping[str, float]) -> str:
    """A line for each finding: the true effect, the mean estimate, the mean width of the interval, and its coverage."""
    counts = covered(audits, truth)
    lines = [f"{'question':40}{'planted':>9}{'found':>9}{'width':>9}{'holds it':>12}"]
    for place, finding in enumerate(audits[0].findings):
        found = [each for audit in audits if (each := audit.findings[place].estimate)]
        mean = sum(each.value for each in found) / len(found)
        width = sum(each.high - each.low for each in found) / len(found)
        held = f"{counts[finding.key]} of {len(audits)}"
        lines.append(f"{finding.title:40}{truth[finding.key]:>9.3f}{mean:>9.3f}{width:>9.3f}{held:>12}")
    return "\n".join(lines)


def _answer(number: int, repeat: int, kind: SampleKind, right: bool) -> Result:  # noqa: FBT001 - how it went
    figures = int(kind.figures)
    record = Record(
        f"s{number}", repeat, kind.name, "4" if right else "5", "answered", cells=1, figures=figures
    )
    return Result(record, Score(float(right)))


def _accuracy(ablation: str) -> float:
    return sum(kind.share * kind.right(ablation) for kind in KINDS)


def _only(first: str, second: str) -> float:
    return sum(kind.share * kind.right(first) * (1 - kind.right(second)) for kind in KINDS)


def _keep(first: str, second: str) -> float:
    showing = [kind for kind in KINDS if kind.figures]
    solved = sum(kind.share * kind.right(first) for kind in showing)
    return sum(kind.share * kind.right(first) * kind.right(second) for kind in showing) / solved


if __name__ == "__main__":
    main()
