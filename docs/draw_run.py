"""Draw docs/run.svg: the progress of a real run, as a terminal shows it."""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from pyvision.cli.progress import Progress
from pyvision.solve import prepare, solve
from pyvision.trajectory import TrajectoryWriter


def main(image: str, question: str, target: str) -> None:
    console = Console(file=io.StringIO(), record=True, width=96, force_terminal=True, highlight=False)
    with tempfile.TemporaryDirectory() as folder:
        task = prepare(question, [image], model="offline")
        progress = Progress(Path("runs/example"), console)
        with TrajectoryWriter(Path(folder) / "run", task.setup) as trajectory:

            def watch(event: object) -> None:
                trajectory.write(event)  # type: ignore[arg-type]  # an Event, given by solve
                progress.show(event)  # type: ignore[arg-type]

            solve(task, watch)
    Path(target).write_text(
        console.export_svg(title=f'pyvision run --question "{question}"'), encoding="utf-8"
    )


if __name__ == "__main__":
    main(*sys.argv[1:4])
