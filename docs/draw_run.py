"""Draw docs/run.svg and docs/run.png: the progress of a real run as a terminal shows it, and its last figure.

python docs/draw_run.py examples/table.png "How many rows and columns are in the table?"
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from pyvision.cli.progress import Progress
from pyvision.events import Defined, Event
from pyvision.solve import prepare, solve
from pyvision.trajectory import TrajectoryWriter

DOCS = Path(__file__).parent


def main(image: str, question: str) -> None:
    """Answer the question with the offline model, and keep what a person would have seen."""
    console = Console(file=io.StringIO(), record=True, width=110, force_terminal=True, highlight=False)
    progress = Progress(Path("runs/example"), console)
    task = prepare(question, [image], model="offline")
    with tempfile.TemporaryDirectory() as folder, TrajectoryWriter(Path(folder) / "run", {}) as trajectory:

        def watch(event: Event) -> None:
            trajectory.write(event)
            progress.show(event)
            if isinstance(event, Defined):
                (DOCS / "run.png").write_bytes(event.picture.data)

        outcome = solve(task, watch)
    console.print(outcome.answer, style="bold green")
    drawn = console.export_svg(title=f'python -m pyvision run --image {image} --question "{question}"')
    without_fonts = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)  # they would be fetched
    (DOCS / "run.svg").write_text(without_fonts, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:3])
