"""`pyvision verify`: does the answer of a recorded run depend on its evidence?"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyvision.cli.exit_codes import exit_code
from pyvision.cli.flags import add_model, add_recorded_run, add_repeated, find_recorded_run, parse_pairs

if TYPE_CHECKING:
    from pyvision.runs.verify import Check, Verification
    from pyvision.types import Evidence

_DEPENDS_NOT = 3
_VERIFY = """\
Ask a recorded question again: with its evidence masked, with an equal area elsewhere masked, and with nothing but the
evidence left. The evidence is what the answer cites (--set evidence=true), or else what the run looked at last.
The exit code is 0 if the answer depends on the evidence: masking the evidence changes it, and masking the other area
does not. Otherwise the exit code is 3."""


def add_verify(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the command and its flags."""
    parser = commands.add_parser("verify", description=_VERIFY)
    add_recorded_run(parser)
    add = parser.add_argument
    add_model(parser, "the model to ask (default: from the environment, if that is the recorded one)")
    add_repeated(parser, "--role", "another model for one role of the strategy; repeatable")
    add("--seed", type=int, default=0, metavar="N", help="seed for choosing the other area (default: 0)")
    add("--out", type=Path, metavar="DIR", help="the folder for the three runs (default: RUN_DIR/verify)")
    add("--json", action="store_true", help="print a JSON object")
    parser.set_defaults(call=verify_run)


def verify_run(options: argparse.Namespace) -> int:
    """Ask three times and print what changed; returns the exit code."""
    from pyvision.runs.run import read_run
    from pyvision.runs.verify import verify
    from pyvision.text.sanitize import printable

    run_dir = find_recorded_run(options)
    out = options.out or run_dir / "verify"
    found = verify(
        read_run(run_dir),
        model=options.model,
        config=options.config,
        roles=parse_pairs(options, "--role"),
        out=out,
        seed=options.seed,
    )
    text = json.dumps(_plain(found), ensure_ascii=False) if options.json else format_verification(found)
    print(text if options.json else printable(text))  # noqa: T201 - what the command is for
    for check in found.checks:
        if check.has_failed:
            print(f"pyvision: {check.masked}: {check.outcome.error}", file=sys.stderr)  # noqa: T201 - an error
            return exit_code(check.outcome.end_reason)
    return 0 if found.verdict == "depends" else _DEPENDS_NOT


def format_verification(found: Verification) -> str:
    derived = " (what was looked at last)" if any(each.is_derived for each in found.evidence) else ""
    return "\n".join(
        [
            f"answer: {found.answer}",
            f"evidence: {'; '.join(map(_format_region, found.evidence))}{derived}",
            *(f"{check.masked}: {_format_check(check)}" for check in found.checks),
            *(
                []
                if found.find("elsewhere masked")
                else ["elsewhere masked: not asked, no equal area is left"]
            ),
            f"verdict: {_format_verdict(found)}",
        ]
    )


def _format_verdict(found: Verification) -> str:
    if found.verdict == "depends":
        return "the answer depends on the evidence"
    if found.verdict == "does not depend":
        return "the answer does not depend on the evidence"
    if any(check.has_failed for check in found.checks):
        return "undecided: not every question was answered"
    if found.find("elsewhere masked") is None:
        return "undecided: the answer changes, and no equal area is left to compare with"
    return "undecided: masking an equal area elsewhere changes the answer too"


def _format_region(evidence: Evidence) -> str:
    if evidence.box is None:
        return f"all of {evidence.name}"
    left, top, right, bottom = (f"{edge:g}" for edge in evidence.box)
    return f"{evidence.name} from ({left}, {top}) to ({right}, {bottom})"


def _format_check(check: Check) -> str:
    if check.outcome.answer is None:
        return f"no answer ({check.outcome.end_reason})"
    return f"{check.outcome.answer} ({'same' if check.is_same else 'changed'})"


def _plain(found: Verification) -> dict[str, Any]:
    return {
        "answer": found.answer,
        "evidence": [asdict(each) for each in found.evidence],
        "checks": [
            {
                "masked": check.masked,
                "answer": check.outcome.answer,
                "end_reason": check.outcome.end_reason,
                "is_same": check.is_same,
                "run_dir": check.run_dir,
            }
            for check in found.checks
        ],
        "verdict": found.verdict,
    }
