"""Null simulation: do audits, comparisons and planned sample sizes keep what they promise?

python -m benchmarks.audit [--worlds N] [--samples N] [--repeats K]

In null worlds every ablation is right with the same probability, which differs from sample to sample: each effect that
an audit reports there is a false alarm. In planted worlds some samples are solved in some ablations and not in others,
and then a share of all answers is flipped at random: the true effects follow from these numbers, and 95 of 100
intervals should contain them. Comparisons are simulated alike, without an effect and with one that the number of
samples was planned for.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyvision.bench.analysis.audit import QUESTIONS, Audit, AuditFinding, audit_table
from pyvision.bench.analysis.compare import compare_values
from pyvision.bench.analysis.statistics import ALPHA, POWER, samples_needed
from pyvision.bench.samples import Record, Result, Score

ABLATIONS = ("direct", "tools", "not_run", "format_only", "result_only", "blank", "swapped", "oracle")
SLIP = 0.05  # the share of answers that are flipped at random
GAIN = 0.05  # of the comparisons with an effect
_SHAPE = 0.5  # of the beta distribution of a sample's probability: many are nearly always right, or wrong
_SPREAD = _SHAPE**2 / ((2 * _SHAPE) ** 2 * (2 * _SHAPE + 1))  # E[p(1 - p)] is this variance for the shape 1/2


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


_ALL = frozenset(ABLATIONS)
_WITHOUT_RESULTS = frozenset({"direct", "not_run", "format_only"})
KINDS = (
    SampleKind("easy", 0.30, _ALL),
    SampleKind("hard", 0.12, frozenset()),
    SampleKind("needs the printed number", 0.15, _ALL - _WITHOUT_RESULTS, figures=False),
    SampleKind("needs the figure", 0.20, frozenset({"tools", "result_only", "oracle"})),
    SampleKind("needs a figure to think", 0.05, _ALL - _WITHOUT_RESULTS - {"result_only"}),
    SampleKind("needs the form", 0.06, _ALL - {"direct", "result_only"}),
    SampleKind("harmed by tools", 0.05, frozenset({"direct"})),
    SampleKind("looked in the wrong place", 0.07, frozenset({"oracle"})),
)


@dataclass(frozen=True, slots=True)
class Line:
    """What many audits found about one question, as shares of them.

    shown: those that call it an effect. excludes_null: those whose interval excludes the value of no effect.
    """

    title: str
    truth: float
    mean: float
    width: float
    covered: float
    excludes_null: float
    shown: float


def null_audits(worlds: int, samples: int, repeats: int) -> list[Audit]:
    """Audits of tools that change nothing."""
    return [audit_table(simulate_null(seed, samples, repeats)) for seed in range(worlds)]


def planted_audits(worlds: int, samples: int, repeats: int) -> list[Audit]:
    """Audits of a model with planted effects."""
    return [audit_table(simulate(seed, samples, repeats)) for seed in range(worlds)]


def simulate(seed: int, samples: int, repeats: int = 2) -> dict[str, list[Result]]:
    """Records of every ablation over the same samples, with planted effects."""
    generator = random.Random(seed)
    kinds = generator.choices(KINDS, [kind.share for kind in KINDS], k=samples)
    return {
        ablation: [
            _answer(number, repeat, float(generator.random() < kind.right(ablation)), int(kind.figures))
            for number, kind in enumerate(kinds)
            for repeat in range(repeats)
        ]
        for ablation in ABLATIONS
    }


def simulate_null(seed: int, samples: int, repeats: int = 2) -> dict[str, list[Result]]:
    """Records of ablations that all answer a sample rightly with the same probability."""
    generator = random.Random(seed)
    chances = [generator.betavariate(_SHAPE, _SHAPE) for _ in range(samples)]
    return {
        ablation: [
            _answer(number, repeat, float(generator.random() < chance), 1)
            for number, chance in enumerate(chances)
            for repeat in range(repeats)
        ]
        for ablation in ABLATIONS
    }


def planted() -> dict[str, float]:
    """The true effects, by the key of the finding."""
    return {question.key: _truth(question.key, *question.needs) for question in QUESTIONS}


def no_effects() -> dict[str, float]:
    """The same in a null world."""
    return {question.key: float(question.key in ("blank", "swapped")) for question in QUESTIONS}


def summarise(audits: Sequence[Audit], truth: Mapping[str, float]) -> list[Line]:
    """A line for each question."""
    none = no_effects()
    return [
        _line([audit.findings[place] for audit in audits], truth[question.key], none[question.key])
        for place, question in enumerate(QUESTIONS)
    ]


def alarms(audits: Sequence[Audit]) -> float:
    """The share of audits that report an effect of any kind."""
    return sum(any(each.verdict == "effect" for each in audit.findings) for audit in audits) / len(audits)


def comparisons(worlds: int, samples: int, repeats: int, gain: float = 0.0) -> tuple[float, float]:
    """The share of comparisons that show a difference, and the share whose interval contains the true one.

    gain: the share of samples that the first run never solves and the second always does.
    """
    generator = random.Random(samples * 1_000 + repeats)
    shown = covered = 0
    for _ in range(worlds):
        chances = [_chances(generator, gain) for _ in range(samples)]
        runs = [
            [[float(generator.random() < chance[run]) for _ in range(repeats)] for chance in chances]
            for run in range(2)
        ]
        found = compare_values(("first", runs[0]), ("second", runs[1]))
        shown += found.p < ALPHA
        covered += found.difference.holds(gain)
    return shown / worlds, covered / worlds


def planned(gain: float, repeats: int) -> int:
    """The number of samples that detects this gain, by the formula of `bench plan`."""
    deviation = math.sqrt(gain + (1 - gain) * 2 * _SPREAD / repeats - gain**2)
    return samples_needed(gain, deviation)


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate, and print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.audit", description=(__doc__ or "").split("\n")[0]
    )
    add = parser.add_argument
    add("--worlds", type=int, default=1000, help="of each kind (default 1000)")
    add("--samples", type=int, default=200, help="samples of an audit (default 200)")
    add("--repeats", type=int, default=2, help="answers of a sample in each ablation (default 2)")
    options = parser.parse_args(arguments)
    sizes = options.worlds, options.samples, options.repeats
    kinds = ("null worlds", null_audits, no_effects()), ("planted worlds", planted_audits, planted())
    for title, simulate_audits, truth in kinds:
        audits = simulate_audits(*sizes)
        print(f"{title}: {sizes[0]} audits of {sizes[1]} samples, {sizes[2]} answers each")
        print("\n".join(_format(summarise(audits, truth))))
        print(f"audits that report an effect: {alarms(audits):.1%}\n", flush=True)
    print("\n".join(_compare(*sizes)))


def _compare(worlds: int, samples: int, repeats: int) -> Iterator[str]:
    yield f"{'comparisons':32}{'samples':>9}{'answers':>9}{'shown':>9}{'covered':>9}"
    for gain in (0.0, GAIN):
        for each in (1, repeats):
            n = planned(gain, each) if gain else samples
            shown, covered = comparisons(worlds, n, each, gain)
            title = f"gain of {gain:.0%}, planned for {POWER:.0%}" if gain else "no difference"
            yield f"{title:32}{n:>9}{each:>9}{shown:>9.1%}{covered:>9.1%}"


def _format(lines: Sequence[Line]) -> Iterator[str]:
    names = ("truth", "mean", "width", "covered", "excluded", "effect")
    yield f"{'question':42}" + "".join(f"{name:>9}" for name in names)
    for each in lines:
        numbers = "".join(f"{number:>9.3f}" for number in (each.truth, each.mean, each.width))
        shares = "".join(f"{share:>9.1%}" for share in (each.covered, each.excludes_null, each.shown))
        yield f"{each.title:42}{numbers}{shares}"


def _line(findings: Sequence[AuditFinding], truth: float, none: float) -> Line:
    found = [each.estimate for each in findings if each.estimate]
    count = len(findings)
    return Line(
        findings[0].title,
        truth,
        math.fsum(each.value for each in found) / len(found),
        math.fsum(each.high - each.low for each in found) / len(found),
        sum(each.holds(truth) for each in found) / count,
        sum(not each.holds(none) for each in found) / count,
        sum(each.verdict == "effect" for each in findings) / count,
    )


def _chances(generator: random.Random, gain: float) -> tuple[float, float]:
    chance = generator.betavariate(_SHAPE, _SHAPE)
    return (0.0, 1.0) if generator.random() < gain else (chance, chance)


def _answer(number: int, repeat: int, value: float, figures: int) -> Result:
    record = Record(f"s{number}", repeat, "", "4", "answered", cells=1, figures=figures)
    return Result(record, Score(value))


def _truth(key: str, first: str, second: str) -> float:
    """The true value: that of `only_first_interval`, `retention_interval` or `difference_interval`."""
    if key in ("blank", "swapped"):
        showing = [kind for kind in KINDS if kind.figures]
        both = sum(kind.share * kind.right(first) * kind.right(second) for kind in showing)
        return both / sum(kind.share * kind.right(first) ** 2 for kind in showing)
    gains = [(kind.share, kind.right(first) - kind.right(second)) for kind in KINDS]
    if key in ("only_with_tools", "harmed", "oracle"):
        return sum(share * (gain + gain**2) / 2 for share, gain in gains)
    return sum(share * gain for share, gain in gains)


if __name__ == "__main__":
    main()
