"""Open thousands of sessions, one in twenty hostile; check every result, and that nothing stays behind.

python -m benchmarks.soak [--sessions 2000] [--clients 4] [--every 100] [--seed N]

The host is sampled after every hundred sessions, when none is alive. Exit status 1 when a result was wrong or
something grew. Other programs that make cgroups meanwhile spoil that column, and nothing else does.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.soak.gauges import GAUGES, Flatness, judge, sample
from benchmarks.soak.work import BOMBS, Job, benign
from sandbox import Policy, Sandbox, SandboxError, Session

_SHOWN = 20
_STANDARD_ERROR = 2  # the descriptor: the object may be a stand-in
_HUNG_S = 120  # and a second for each session of a batch


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=2000)
    parser.add_argument("--clients", type=int, default=4, help="threads that open sessions")
    parser.add_argument("--every", type=int, default=100, metavar="N", help="sessions between two samples")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="the same work again")
    options = parser.parse_args(arguments)
    print(f"{options.sessions} sessions, {options.clients} clients, --seed {options.seed}")
    with _own_temporary_folder(), Sandbox(PATIENT) as patient, Sandbox(IMPATIENT) as impatient:
        soak = Soak(patient, impatient, options.seed)
        return conclude(*run(batches(soak, options.sessions, options.clients, options.every)))


def run(work: Iterable[Sequence[Verdict]]) -> tuple[list[Verdict], list[Flatness]]:
    """Sample after each batch, and print a row of the table."""
    print(f"{'sessions':>9}{'s':>8}{'wrong':>7}" + "".join(f"{gauge.name:>13}" for gauge in GAUGES))
    counts: list[int] = []
    samples: list[tuple[float, ...]] = []
    verdicts: list[Verdict] = []
    started = time.monotonic()
    for batch in work:
        verdicts += batch
        counts.append(len(verdicts))
        samples.append(sample())
        _print_row(len(verdicts), time.monotonic() - started, len(wrong_ones(verdicts)), samples[-1])
    return verdicts, judge(counts, samples)


def wrong_ones(verdicts: Iterable[Verdict]) -> list[Verdict]:
    return [verdict for verdict in verdicts if verdict.wrong is not None]


def batches(soak: Soak, sessions: int, clients: int, every: int) -> Iterator[list[Verdict]]:
    """The sessions by threads of a pool; between two batches none is alive.

    A session that never comes back ends the soak with status 1, after telling where each thread hangs.
    """
    pool = ThreadPoolExecutor(clients)
    try:
        for first in range(0, sessions, every):
            faulthandler.dump_traceback_later(_HUNG_S + every, exit=True, file=_STANDARD_ERROR)
            yield list(pool.map(soak.session, range(first, min(first + every, sessions))))
    finally:
        pool.shutdown(cancel_futures=True)  # on Ctrl-C: those that run now end, the others never begin
        faulthandler.cancel_dump_traceback_later()


def conclude(verdicts: Sequence[Verdict], flatness: Sequence[Flatness]) -> int:
    """Print what was done and what is wrong with it. Returns the exit status."""
    kinds = Counter(verdict.kind for verdict in verdicts)
    print("\nwork: " + ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))
    wrong = wrong_ones(verdicts)
    for verdict in wrong[:_SHOWN]:
        print(f"  session {verdict.number}, {verdict.kind}: {verdict.wrong}")
    print(f"results: {len(wrong)} of {len(verdicts)} sessions wrong")
    for one in flatness:
        state = "flat" if one.flat else "GROWS"
        growth = f"fitted {one.fitted:+.2f}, last - first {one.difference:+.2f}"
        print(f"{one.name:12}{state:6} {growth}, allowed +{one.allowed:g}")
    right = not wrong and all(one.flat for one in flatness)
    print("verdict: flat, every result right" if right else "verdict: not as it must be")
    return 0 if right else 1


def _print_row(done: int, seconds: float, wrong: int, values: Sequence[float]) -> None:
    cells = "".join(f"{value:>13.1f}" if value % 1 else f"{value:>13.0f}" for value in values)
    print(f"{done:>9}{seconds:>8.0f}{wrong:>7}{cells}", flush=True)


@contextlib.contextmanager
def _own_temporary_folder() -> Iterator[None]:
    """Temporary files of this process lie in a folder of its own, in which all of them can be counted."""
    before, variable = tempfile.tempdir, os.environ.get("TMPDIR")
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        Path(folder).chmod(0o755)  # as /tmp, users inside of containers may pass through it
        tempfile.tempdir = os.environ["TMPDIR"] = folder
        try:
            yield
        finally:
            tempfile.tempdir = before
            os.environ.pop("TMPDIR")
            os.environ.update({"TMPDIR": variable} if variable else {})


if __name__ == "__main__":
    sys.exit(main())


# ---- One session of the soak, from its number alone: what it does, and what was wrong with it.


HOSTILE_SHARE = 0.05
PATIENT = Policy(cell_timeout_s=120)  # a loaded machine must not make benign work look wrong
IMPATIENT = Policy(cell_timeout_s=2, interrupt_grace_s=0.5, memory_bytes=2**30)
_ATTEMPTS = 4  # a lost kernel is told once; one that was spoilt may need its time limit first
_ALIVE = "print(6 * 7)"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one session went; `wrong` is None where everything was as it must be."""

    number: int
    kind: str
    wrong: str | None


@dataclass(frozen=True, slots=True)
class Soak:
    """The two sandboxes of a soak and its seed: a session's number says all that it does."""

    patient: Sandbox
    impatient: Sandbox
    seed: int

    def session(self, number: int) -> Verdict:
        """Open, work, close. What the sandbox raises is wrong too."""
        random = Random(f"{self.seed}:{number}")
        if random.random() < HOSTILE_SHARE:
            kind = random.choice(sorted(BOMBS))
            return Verdict(number, kind, self._survive(BOMBS[kind]))
        job = benign(random)
        return Verdict(number, job.kind, self._work(job))

    def _work(self, job: Job) -> str | None:
        try:
            with self.patient.open(job.images) as session:
                answers = (cell.wrong(session.run(cell.code)) for cell in job.cells)
                return next((answer for answer in answers if answer is not None), None)
        except SandboxError as error:
            return f"{type(error).__name__}: {error}"

    def _survive(self, bomb: str) -> str | None:
        try:
            with self.impatient.open() as session:
                session.run(bomb)
                return _answers_again(session)
        except SandboxError as error:
            return f"{type(error).__name__}: {error}"


def _answers_again(session: Session) -> str | None:
    results = []
    for _ in range(_ATTEMPTS):
        results.append(session.run(_ALIVE))
        if results[-1].status == "ok" and results[-1].text == "42\n":
            return None
    return f"no right answer in {_ATTEMPTS} cells after it: {[result.status for result in results]}"
