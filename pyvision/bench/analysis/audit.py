"""What the tools did: the same samples under several ablations, compared sample by sample, as numbers and as a report.

Ablations are named as in `ablations.ABLATIONS`. Repeats of an ablation are averaged for each sample, which removes the
luck of single answers. With one repeat each, a model that answers differently from run to run fills both `only` rows a
little; the differences are free of that.

Not covered: side effects of an ablation, such as a model that notices that its cells print nothing and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeAlias

from pyvision.bench.ablations import ABLATIONS
from pyvision.bench.analysis.document import (
    Document,
    Paragraph,
    Section,
    Table,
    format_interval,
    format_percent,
    format_signed_percent,
    format_value,
)
from pyvision.bench.analysis.statistics import Estimate, difference_interval, mean_interval, ratio_interval
from pyvision.bench.samples import Result, values_by_sample
from pyvision.errors import ConfigError

AblationValues: TypeAlias = tuple[float, ...]
"""The means of one sample in the ablations that a question names, in its order."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question of an audit. needs: the ablations that it compares. meaning: a sentence with `{value}` or `{signed}`
    for the estimate in percent.

    estimate: computed from the samples' values in those ablations; None if they do not give one.
    """

    key: str
    title: str
    needs: tuple[str, ...]
    estimate: Callable[[Sequence[AblationValues]], Estimate | None]
    meaning: str
    only_with_figures: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer to one question. n: samples with a score in all ablations that it needs; left_out: those without."""

    key: str
    title: str
    meaning: str
    estimate: Estimate | None
    n: int
    left_out: int


@dataclass(frozen=True, slots=True)
class Audit:
    """Accuracy by ablation, and the findings. not_asked: titles of the questions whose ablations are missing."""

    ablations: Mapping[str, Estimate | None]
    findings: tuple[Finding, ...]
    not_asked: tuple[str, ...]


def audit_table(ablations: Mapping[str, Sequence[Result]]) -> Audit:
    """ablations: name -> results. Raises ConfigError for an unknown ablation, or without `direct` and `tools`."""
    _check(ablations)
    values = {name: values_by_sample(results) for name, results in ablations.items()}
    means = {name: {key: fmean(each) for key, each in found.items()} for name, found in values.items()}
    ids = {name: {each.record.sample_id for each in results} for name, results in ablations.items()}
    showing = {each.record.sample_id for each in ablations["tools"] if each.record.figures}
    answerable = [question for question in QUESTIONS if all(name in ablations for name in question.needs)]
    return Audit(
        {name: mean_interval(list(found.values())) for name, found in values.items()},
        tuple(_finding(question, ids, means, showing) for question in answerable),
        tuple(question.title for question in QUESTIONS if question not in answerable),
    )


def audit_report(audit: Audit, title: str) -> Document:
    """The audit as a document."""
    findings = tuple(_row(finding) for finding in audit.findings)
    table = Table(("of the samples", "N", "left out", "%", "95 % interval"), findings)
    meanings = tuple(Paragraph(format_meaning(finding)) for finding in audit.findings if finding.estimate)
    return Document(
        title, (_ablations(audit), Section("What the tools did", (table, *meanings, *_not_asked(audit))))
    )


def format_meaning(finding: Finding) -> str:
    """The finding as a sentence, and whether its interval contains zero."""
    found = finding.estimate
    if found is None:
        return f"{finding.title}: no sample to estimate it from."
    sentence = finding.meaning.format(
        value=format_percent(found.value), signed=format_signed_percent(found.value)
    )
    is_uncertain = found.low <= 0 <= found.high
    return f"{sentence} (The interval contains zero: there may be no effect.)" if is_uncertain else sentence


def _check(ablations: Mapping[str, Sequence[Result]]) -> None:
    known = {name for question in QUESTIONS for name in question.needs}
    for name in ablations:
        if name not in known:
            raise ConfigError(f"unknown ablation {name!r}; known ablations are {', '.join(sorted(known))}")
    for name in ("direct", "tools"):
        if name not in ablations:
            raise ConfigError(
                f"an audit needs the ablation {name!r}; run it over the same samples and include it"
            )


def _finding(
    question: Question,
    ids: Mapping[str, set[str]],
    means: Mapping[str, Mapping[str, float]],
    showing: set[str],
) -> Finding:
    asked = [ids[name] for name in question.needs]
    # the ablation `oracle` only has the samples with a box
    every = ids["oracle"] if "oracle" in question.needs else set.union(*asked)
    every = every & showing if question.only_with_figures else every
    usable = sorted(key for key in every if all(key in means[name] for name in question.needs))
    rows = [tuple(means[name][key] for name in question.needs) for key in usable]
    return Finding(
        question.key,
        question.title,
        question.meaning,
        question.estimate(rows),
        len(usable),
        len(every) - len(usable),
    )


def _ablations(audit: Audit) -> Section:
    purposes: Mapping[str, str] = {ablation.name: ablation.purpose for ablation in ABLATIONS}
    ordered = [ablation.name for ablation in ABLATIONS if ablation.name in audit.ablations]
    rows = tuple(
        (
            f"{name}: {purposes[name]}",
            str(found.n if found else 0),
            format_value(found),
            format_interval(found),
        )
        for name, found in ((name, audit.ablations[name]) for name in ordered)
    )
    return Section("Accuracy by ablation", (Table(("ablation", "scored", "%", "95 % interval"), rows),))


def _row(finding: Finding) -> tuple[str, str, str, str, str]:
    found = finding.estimate
    n = found.n if found else 0
    return finding.title, str(n), str(finding.left_out), format_value(found), format_interval(found)


def _not_asked(audit: Audit) -> tuple[Paragraph, ...]:
    if not audit.not_asked:
        return ()
    return (Paragraph(f"Not answered, because an ablation is missing: {', '.join(audit.not_asked)}."),)


def _only_first(rows: Sequence[AblationValues]) -> Estimate | None:
    """The share of samples that the first ablation solves and the second does not."""
    return mean_interval([[first * (1 - second)] for first, second in rows])


def _gain(rows: Sequence[AblationValues]) -> Estimate | None:
    """First minus second."""
    return difference_interval([first - second for first, second in rows])


def _keep(rows: Sequence[AblationValues]) -> Estimate | None:
    """Of what the first ablation solves, the share that the second solves too."""
    return ratio_interval([(first * second, first) for first, second in rows])


QUESTIONS: tuple[Question, ...] = (
    Question(
        "only_with_tools",
        "solved only with tools",
        ("tools", "direct"),
        _only_first,
        "{value} % of the samples are right with tools and wrong without: the benefit of the tools.",
    ),
    Question(
        "harmed",
        "harmed by tools",
        ("direct", "tools"),
        _only_first,
        "{value} % are right without tools and wrong with them: the harm done by the tools.",
    ),
    Question(
        "gain",
        "gain from tools",
        ("tools", "direct"),
        _gain,
        "Overall, tools change accuracy by {signed} points.",
    ),
    Question(
        "execution",
        "gain from running the cells",
        ("tools", "not_run"),
        _gain,
        "Running the code adds {signed} points over writing it without getting any output.",
    ),
    Question(
        "form",
        "gain from the format alone",
        ("not_run", "direct"),
        _gain,
        "Writing code that never runs adds {signed} points over a plain answer: the effect of the prompt and of "
        "longer reasoning.",
    ),
    Question(
        "blank",
        "solved with grey figures too",
        ("tools", "blank"),
        _keep,
        "Of what is solved with tools and figures, {value} % is also solved when every figure is grey: "
        "there the model did not need the figures, or guessed.",
        only_with_figures=True,
    ),
    Question(
        "swapped",
        "solved with wrong figures too",
        ("tools", "swapped"),
        _keep,
        "Of what is solved with tools and figures, {value} % is also solved when the figures come from another "
        "sample: there the model ignored what it saw.",
        only_with_figures=True,
    ),
    Question(
        "oracle",
        "solved only with the right crop",
        ("oracle", "tools"),
        _only_first,
        "{value} % are wrong with the model's own figures and right when the figures show the part that decides the "
        "answer: it looked in the wrong place.",
    ),
)
"""The questions of an audit, in the order of the report."""
