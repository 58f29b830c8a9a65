"""Is a decision lost, or changed, by the form of a reply? `python -m benchmarks.reply_styles [--count 500] [--show]`

Each reply is one of the styles of `forms.py` around a known decision, after one of some openings, drawn
with a fixed seed. It is the first reply to a role that works as in a run: its prompt, its reader, its default.
found: the role took the decision. asked again: the role was asked for it once more, so that nothing is lost yet.
changed: it took another. lost: it went on without one. The exit status is 1 if any decision was changed or lost.
Not covered: "The answer is below." or "is not visible.", since a model that is still at work says this too.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence

from benchmarks.reply_styles.cases import Case
from benchmarks.reply_styles.roles import ROLES, AskedAgainError, Role

KINDS = ("found", "asked again", "changed", "lost")


def judge(case: Case, role: Role) -> tuple[str, str | None]:
    """One of KINDS, and the decision that the role took."""
    try:
        taken = role.take(case.reply)
    except AskedAgainError:
        return "asked again", None
    if taken is None:
        return "lost", None
    return ("found" if taken == case.decision else "changed"), taken


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each role."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reply_styles")
    parser.add_argument("--count", type=int, default=500, help="replies of each role (default 500)")
    parser.add_argument("--role", action="append", choices=ROLES, help="only this role; may be repeated")
    parser.add_argument("--show", action="store_true", help="print the replies whose decision was not found")
    options = parser.parse_args(arguments)
    spoiled = 0
    for name in options.role or ROLES:
        role = ROLES[name]
        results = [(case, *judge(case, role)) for case in role.cases(options.count)]
        kinds = Counter(kind for _, kind, _ in results)
        spoiled += kinds["changed"] + kinds["lost"]
        counts = ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS)
        print(f"{name:<24}{len(results)} replies in {role.styles} styles: {counts}")
        for case, kind, taken in results if options.show else ():
            if kind != "found":
                print(f"   {kind}: {case.decision!r} read as {taken!r} in {case.reply!r}")
    return 1 if spoiled else 0


if __name__ == "__main__":
    raise SystemExit(main())
