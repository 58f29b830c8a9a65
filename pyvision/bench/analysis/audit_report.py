"""An audit as a document: the ablations, what was found, and what each finding means in a sentence."""

from __future__ import annotations

from collections.abc import Mapping

from pyvision.bench.ablations import ABLATIONS
from pyvision.bench.analysis.audit import Audit, Finding
from pyvision.bench.analysis.document import (
    Document,
    Paragraph,
    Section,
    Table,
    format_signed_percent,
    interval,
    percent,
    value,
)


def audit_report(audit: Audit, title: str) -> Document:
    """The audit to be read."""
    findings = tuple(_row(finding) for finding in audit.findings)
    table = Table(("of the samples", "N", "left out", "%", "95 % interval"), findings)
    meanings = tuple(Paragraph(meaning(finding)) for finding in audit.findings if finding.estimate)
    return Document(
        title, (_ablations(audit), Section("What the tools did", (table, *meanings, *_not_asked(audit))))
    )


def meaning(finding: Finding) -> str:
    """The finding in a sentence, and whether the interval leaves the matter open."""
    found = finding.estimate
    if found is None:
        return f"{finding.title}: no sample to tell it from."
    said = finding.meaning.format(value=percent(found.value), signed=format_signed_percent(found.value))
    return f"{said} (The interval holds zero: it may be nothing.)" if found.low <= 0 <= found.high else said


def _ablations(audit: Audit) -> Section:
    purposes: Mapping[str, str] = {ablation.name: ablation.purpose for ablation in ABLATIONS}
    ordered = [ablation.name for ablation in ABLATIONS if ablation.name in audit.ablations]
    rows = tuple(
        (f"{name}: {purposes[name]}", str(found.n if found else 0), value(found), interval(found))
        for name, found in ((name, audit.ablations[name]) for name in ordered)
    )
    return Section("Accuracy by arm", (Table(("arm", "scored", "%", "95 % interval"), rows),))


def _row(finding: Finding) -> tuple[str, str, str, str, str]:
    found = finding.estimate
    n = found.n if found else 0
    return finding.title, str(n), str(finding.left_out), value(found), interval(found)


def _not_asked(audit: Audit) -> tuple[Paragraph, ...]:
    if not audit.not_asked:
        return ()
    return (Paragraph(f"Not asked, as its arm was not run: {', '.join(audit.not_asked)}."),)
