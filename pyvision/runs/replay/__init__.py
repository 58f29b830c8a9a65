"""Run the cells of a recorded run again, or resume the run at one of its turns with changes."""

from pyvision.runs.replay.comparison import CellDifference, difference
from pyvision.runs.replay.fork import Fork, fork_task, with_figures
from pyvision.runs.replay.rerun import Rerun, open_session, rerun, rerun_cells

__all__ = [
    "CellDifference",
    "Fork",
    "Rerun",
    "difference",
    "fork_task",
    "open_session",
    "rerun",
    "rerun_cells",
    "with_figures",
]
