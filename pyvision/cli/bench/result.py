"""What `bench run` and `bench grade` print at the end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def result(folder: Path) -> dict[str, Any]:
    """The counts of an experiment by its default metric, as plain values."""
    from pyvision.bench.runner.running_totals import running_totals_of
    from pyvision.bench.store import Store

    with Store(folder) as store:
        judged = sum(score.judge is not None for score in store.scores().values())
        about = {"run_dir": str(folder), "metric": store.default_metric, "judged": judged}
        return {**about, **running_totals_of(store).summary()}


def print_result(folder: Path, *, as_json: bool) -> dict[str, Any]:
    """Print the counts on standard output, in one line; they are returned too."""
    found = result(folder)
    print(json.dumps(found, ensure_ascii=False) if as_json else _line(found))  # noqa: T201 - the result
    return found


def exit_code(found: dict[str, Any], max_unscored_ratio: float) -> int:
    """3 when a larger share than that says nothing about the model."""
    return 3 if sum(found["unscored"].values()) > max_unscored_ratio * found["done"] else 0


def _line(found: dict[str, Any]) -> str:
    from pyvision.bench.grading import JUDGE, describe_metric

    accuracy = "nothing scored" if found["accuracy"] is None else f"{found['accuracy']:.4f}"
    judged = (f"judged: {found['judged']}",) if JUDGE in (found["metric"] or "") else ()
    unscored = ", ".join(f"{reason} {count}" for reason, count in found["unscored"].items()) or "none"
    return " · ".join(
        (
            f"{accuracy} over {found['scored']} by {describe_metric(found['metric'])}",
            *judged,
            f"unscored: {unscored}",
            f"without a cell: {found['without_cells']}",
            found["run_dir"],
        )
    )
