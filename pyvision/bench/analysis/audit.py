"""What the tools did: the same samples under several ablations, compared sample by sample, as numbers and as a report.

Ablations are named as in `ablations.ABLATIONS`. A model that answers differently from run to run solves some samples in
one ablation and not in another, even if the two are the same. The findings are free of that: from the samples that only
one ablation solves, and from those that a second ablation solves too, the same is subtracted or divided by that
repeats of one ablation show among themselves (`only_first_interval`, `retention_interval`). This takes two repeats of
each sample; with fewer, such a finding says that there are too few. The differences need no repeats.

A finding is an effect if its p-value, adjusted for the number of findings in the audit (Holm), is below 5 %: of the
audits of tools that change nothing, at most one in 20 reports any effect. The intervals are those of single findings.

Not covered: side effects of an ablation, such as a model that notices that its cells print nothing and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

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
from pyvision.bench.analysis.statistics import (
    ALPHA,
    Estimate,
    Pair,
    difference_interval,
    holm,
    mean_interval,
    only_first_interval,
    retention_interval,
)
from pyvision.bench.samples import Result, values_by_sample
from pyvision.errors import ConfigError

Verdict: TypeAlias = Literal["effect", "no effect shown", "too few repeats", "no samples"]


@dataclass(frozen=True, slots=True)
class AuditQuestion:
    """One question of an audit. needs: the two ablations that it compares. meaning: a sentence with `{value}` or
    `{signed}` for the estimate in percent.

    estimate: computed from the samples' values in those ablations; None if they do not give one. repeated: those
    ablations of which it needs two repeats of each sample.
    """

    key: str
    title: str
    needs: tuple[str, str]
    estimate: Callable[[Sequence[Pair]], Estimate | None]
    meaning: str
    repeated: tuple[str, ...] = ()
    only_with_figures: bool = False


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """The answer to one question. n: the samples that it is estimated from; unpaired: the others.

    p: adjusted for the number of findings.
    """

    key: str
    title: str
    meaning: str
    estimate: Estimate | None
    n: int
    unpaired: int
    verdict: Verdict
    p: float | None = None


@dataclass(frozen=True, slots=True)
class Audit:
    """Accuracy by ablation, and the findings. not_asked: titles of the questions whose ablations are missing."""

    ablations: Mapping[str, Estimate | None]
    findings: tuple[AuditFinding, ...]
    not_asked: tuple[str, ...]


def audit_table(ablations: Mapping[str, Sequence[Result]]) -> Audit:
    """ablations: name -> results. Raises ConfigError for an unknown ablation, or without `direct` and `tools`."""
    _check(ablations)
    values = {name: values_by_sample(results) for name, results in ablations.items()}
    ids = {name: {each.record.sample_id for each in results} for name, results in ablations.items()}
    showing = {each.record.sample_id for each in ablations["tools"] if each.record.figures}
    answerable = [question for question in QUESTIONS if all(name in ablations for name in question.needs)]
    return Audit(
        {name: mean_interval(list(found.values())) for name, found in values.items()},
        _decide([_finding(question, ids, values, showing) for question in answerable]),
        tuple(question.title for question in QUESTIONS if question not in answerable),
    )


def audit_report(audit: Audit, title: str, warnings: tuple[Section, ...] = ()) -> Document:
    """The audit as a document, after warnings about how its experiments differ."""
    findings = tuple(_row(finding) for finding in audit.findings)
    table = Table(("of the samples", "N", "left out", "%", "95 % interval", "effect"), findings)
    meanings = tuple(Paragraph(format_meaning(finding)) for finding in audit.findings)
    return Document(
        title,
        (*warnings, _ablations(audit), Section("What the tools did", (table, *meanings, *_not_asked(audit)))),
    )


def format_meaning(finding: AuditFinding) -> str:
    """The finding as a sentence, and whether it is an effect."""
    found = finding.estimate
    if found is None:
        return f"{finding.title}: {_MISSING[finding.verdict]}"
    sentence = finding.meaning.format(
        value=format_percent(found.value), signed=format_signed_percent(found.value)
    )
    return f"{sentence} {_REMARKS[finding.verdict]}".rstrip()


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
    question: AuditQuestion,
    ids: Mapping[str, set[str]],
    values: Mapping[str, Mapping[str, tuple[float, ...]]],
    showing: set[str],
) -> AuditFinding:
    asked = [ids[name] for name in question.needs]
    # the ablation `oracle` only has the samples with a box
    every = ids["oracle"] if "oracle" in question.needs else set.union(*asked)
    every = every & showing if question.only_with_figures else every
    first, second = (values[name] for name in question.needs)
    scored = [key for key in sorted(every) if key in first and key in second]
    usable = [key for key in scored if all(len(values[name][key]) >= _REPEATS for name in question.repeated)]
    estimate = question.estimate([(first[key], second[key]) for key in usable])
    missing: Verdict = "too few repeats" if scored and not usable else "no samples"
    return AuditFinding(
        question.key,
        question.title,
        question.meaning,
        estimate,
        len(usable),
        len(every) - len(usable),
        "no effect shown" if estimate else missing,
    )


def _decide(findings: Sequence[AuditFinding]) -> tuple[AuditFinding, ...]:
    """The findings with their p-values adjusted, and with the verdicts that follow."""
    p_values = [found.p for each in findings if (found := each.estimate) and found.p is not None]
    adjusted = iter(holm(p_values))
    return tuple(_judge(each, next(adjusted)) if each.estimate else each for each in findings)


def _judge(finding: AuditFinding, p: float) -> AuditFinding:
    return replace(finding, p=p, verdict="effect" if p < ALPHA else "no effect shown")


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


def _row(finding: AuditFinding) -> tuple[str, ...]:
    found = finding.estimate
    n = found.n if found else 0
    return (
        finding.title,
        str(n),
        str(finding.unpaired),
        format_value(found),
        format_interval(found),
        {"effect": "yes", "no effect shown": "open"}.get(finding.verdict, "–"),
    )


def _not_asked(audit: Audit) -> tuple[Paragraph, ...]:
    if not audit.not_asked:
        return ()
    return (Paragraph(f"Not answered, because an ablation is missing: {', '.join(audit.not_asked)}."),)


_REPEATS = 2
_MISSING: Mapping[Verdict, str] = {
    "too few repeats": (
        "too few repeats to tell. One answer of each sample cannot separate this from chance; run both ablations with "
        f"--repeat {_REPEATS} or more."
    ),
    "no samples": "no sample to estimate it from, or too few.",
}
_REMARKS: Mapping[Verdict, str] = {
    "effect": "",
    "no effect shown": "(Within what chance gives in an audit with so many findings: there may be no effect.)",
}

QUESTIONS: tuple[AuditQuestion, ...] = (
    AuditQuestion(
        "only_with_tools",
        "solved only with tools",
        ("tools", "direct"),
        only_first_interval,
        "{value} % of the samples are right with tools and wrong without, beyond what repeats differ by chance: the "
        "benefit of the tools.",
        repeated=("tools", "direct"),
    ),
    AuditQuestion(
        "harmed",
        "harmed by tools",
        ("direct", "tools"),
        only_first_interval,
        "{value} % are right without tools and wrong with them, beyond what repeats differ by chance: the harm done "
        "by the tools.",
        repeated=("direct", "tools"),
    ),
    AuditQuestion(
        "gain",
        "gain from tools",
        ("tools", "direct"),
        difference_interval,
        "Overall, tools change accuracy by {signed} points.",
    ),
    AuditQuestion(
        "execution",
        "gain from running the cells",
        ("tools", "not_run"),
        difference_interval,
        "Running the code adds {signed} points over writing it without getting any output.",
    ),
    AuditQuestion(
        "form",
        "gain from the format alone",
        ("not_run", "direct"),
        difference_interval,
        "Writing code that never runs adds {signed} points over a plain answer: the effect of the prompt and of "
        "longer reasoning.",
    ),
    AuditQuestion(
        "results",
        "gain from seeing results",
        ("tools", "format_only"),
        difference_interval,
        "Seeing what the cells return adds {signed} points over the same tools with their results withheld.",
    ),
    AuditQuestion(
        "format_only",
        "gain with results withheld",
        ("format_only", "direct"),
        difference_interval,
        "Tools whose results are withheld add {signed} points over a plain answer: the effect of being offered them.",
    ),
    AuditQuestion(
        "result_only",
        "gain from results alone",
        ("result_only", "direct"),
        difference_interval,
        "The results of the cells, without the reasoning that led to them, add {signed} points over a plain answer.",
    ),
    AuditQuestion(
        "reasoning",
        "gain from the reasoning",
        ("tools", "result_only"),
        difference_interval,
        "The reasoning around the cells adds {signed} points over their results alone.",
    ),
    AuditQuestion(
        "blank",
        "solved with grey figures too",
        ("tools", "blank"),
        retention_interval,
        "Of what a second run with tools solves again, {value} % is solved when every figure is grey: there the model "
        "did not need the figures, or guessed.",
        repeated=("tools",),
        only_with_figures=True,
    ),
    AuditQuestion(
        "swapped",
        "solved with wrong figures too",
        ("tools", "swapped"),
        retention_interval,
        "Of what a second run with tools solves again, {value} % is solved when the figures come from another "
        "sample: there the model ignored what it saw.",
        repeated=("tools",),
        only_with_figures=True,
    ),
    AuditQuestion(
        "oracle",
        "solved only with the right crop",
        ("oracle", "tools"),
        only_first_interval,
        "{value} % are wrong with the model's own figures and right when the figures show the part that decides the "
        "answer, beyond what repeats differ by chance: it looked in the wrong place.",
        repeated=("oracle", "tools"),
    ),
)
"""The questions of an audit, in the order of the report."""
