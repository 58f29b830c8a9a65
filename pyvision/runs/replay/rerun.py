"""Run recorded cells in a fresh kernel: with the images of the question, and each figure under its name again.

The names that cells rely on are given as they were on record, but to what the figures show now.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

from pyvision.agent.episode import Session
from pyvision.errors import ImageError
from pyvision.events import CellRun
from pyvision.images.read import decode
from pyvision.runs.replay.comparison import Difference, difference
from pyvision.runs.replay.fork import Fork, with_figures
from pyvision.runs.replay.tool_stubs import functions_of
from pyvision.runs.replay.settings import policy_of
from pyvision.runs.report.run import Run, pair_figures
from pyvision.solve import offer_offline_modules
from pyvision.types import Picture
from sandbox import CellResult, Sandbox
from sandbox import ImageError as NotInjected


@dataclass(frozen=True, slots=True)
class Rerun:
    """One cell, run again. turn, cell: their numbers, counted from 1; cells are counted through the run."""

    turn: int
    cell: int
    recorded: CellRun
    now: CellResult
    difference: Difference | None


def rerun(run: Run) -> Iterator[Rerun]:
    """Every cell of the run in a sandbox of its own. Raises sandbox.SandboxError where nothing can run."""
    with open_session(run) as session:
        yield from rerun_cells(run, session)


@contextmanager
def open_session(run: Run, fork: Fork | None = None) -> Iterator[Session]:
    """A fresh kernel under the policy on record, with the images of the question, and the figures of the fork."""
    pictures = {name: picture.data for name, picture in run.inputs.items()}
    with Sandbox(offer_offline_modules(policy_of(run))) as sandbox:
        rooms = with_figures(run, fork, sandbox) if fork else sandbox
        with closing(rooms.open(pictures)) as session:
            yield session


def rerun_cells(run: Run, session: Session, *, before_turn: int | None = None) -> Iterator[Rerun]:
    """The cells of the run, or those before a turn, in this session."""
    functions = functions_of(run.events, run.began.strategy if run.began else "")
    number = 0
    for turn in run.turns:
        if before_turn is not None and turn.number >= before_turn:
            return
        for recorded, names in pair_figures(turn.events):
            number += 1
            now = session.run(recorded.code, functions=functions[id(recorded)])
            define_figures(session, now, names)
            yield Rerun(turn.number, number, recorded, now, difference(recorded.result, now))


def define_figures(session: Session, now: CellResult, names: tuple[tuple[str, Picture] | None, ...]) -> None:
    """Give the figures that a cell shows now the names that its figures had on record."""
    for figure, named in zip(now.figures, names, strict=False):
        if named is None:
            continue
        try:
            session.define({named[0]: decode(figure.data, "figure").data})
        except (
            ImageError,
            NotInjected,
        ):  # no picture, or a name that is none: a cell that wants it fails and says so
            continue
