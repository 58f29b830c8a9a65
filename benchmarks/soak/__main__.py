"""Open thousands of sessions, one in twenty hostile; check every result, and that nothing is left behind.

python -m benchmarks.soak [--sessions 2000] [--clients 4] [--every 100] [--seed N]

The host is sampled after every hundred sessions, when none is open. The exit status is 1 if a result was wrong or a
gauge grew. Only the cgroups column is affected by other programs, if they create cgroups meanwhile.
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
from pathlib import Path

from benchmarks.soak.gauges import GAUGES, Flatness, judge, sample
from benchmarks.soak.work import IMPATIENT, PATIENT, Soak, Verdict
from sandbox import Sandbox

_MAX_PRINTED = 20
_STANDARD_ERROR = 2  # the descriptor: tests may replace sys.stderr
_HUNG_S = 120  # plus a second for each session of a batch


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=2000)
    parser.add_argument("--clients", type=int, default=4, help="threads that open sessions")
    parser.add_argument("--every", type=int, default=100, metavar="N", help="sessions between two samples")
    parser.add_argument(
        "--seed", type=int, default=int(time.time()), help="repeat the sessions of an earlier soak"
    )
    options = parser.parse_args(arguments)
    print(f"{options.sessions} sessions, {options.clients} clients, --seed {options.seed}")
    with _temporary_folder(), Sandbox(PATIENT) as patient, Sandbox(IMPATIENT) as impatient:
        soak = Soak(patient, impatient, options.seed)
        return conclude(*run(batches(soak, options.sessions, options.clients, options.every)))


def run(work: Iterable[Sequence[Verdict]]) -> tuple[list[Verdict], list[Flatness]]:
    """Sample the gauges after each batch and print a row of the table."""
    print(f"{'sessions':>9}{'s':>8}{'wrong':>7}" + "".join(f"{gauge.name:>13}" for gauge in GAUGES))
    counts: list[int] = []
    samples: list[tuple[float, ...]] = []
    verdicts: list[Verdict] = []
    started = time.monotonic()
    for batch in work:
        verdicts += batch
        counts.append(len(verdicts))
        samples.append(sample())
        _print_row(len(verdicts), time.monotonic() - started, len(list_wrong(verdicts)), samples[-1])
    return verdicts, judge(counts, samples)


def list_wrong(verdicts: Iterable[Verdict]) -> list[Verdict]:
    return [verdict for verdict in verdicts if verdict.wrong is not None]


def batches(soak: Soak, sessions: int, clients: int, every: int) -> Iterator[list[Verdict]]:
    """Run the sessions in a thread pool; between two batches none is open.

    A session that hangs ends the soak with status 1, after a traceback of every thread.
    """
    pool = ThreadPoolExecutor(clients)
    try:
        for first in range(0, sessions, every):
            faulthandler.dump_traceback_later(_HUNG_S + every, exit=True, file=_STANDARD_ERROR)
            yield list(pool.map(soak.session, range(first, min(first + every, sessions))))
    finally:
        pool.shutdown(cancel_futures=True)  # on Ctrl-C, sessions that have not started are cancelled
        faulthandler.cancel_dump_traceback_later()


def conclude(verdicts: Sequence[Verdict], flatness: Sequence[Flatness]) -> int:
    """Print a summary. Returns the exit status."""
    kinds = Counter(verdict.kind for verdict in verdicts)
    print("\nwork: " + ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))
    wrong = list_wrong(verdicts)
    for verdict in wrong[:_MAX_PRINTED]:
        print(f"  session {verdict.number}, {verdict.kind}: {verdict.wrong}")
    print(f"results: {len(wrong)} of {len(verdicts)} sessions wrong")
    for gauge in flatness:
        state = "flat" if gauge.is_flat else "GROWS"
        growth = f"fitted {gauge.fitted:+.2f}, last - first {gauge.difference:+.2f}"
        print(f"{gauge.name:12}{state:6} {growth}, allowed +{gauge.allowed:g}")
    passed = not wrong and all(gauge.is_flat for gauge in flatness)
    print("verdict: passed, every gauge flat and every result correct" if passed else "verdict: failed")
    return 0 if passed else 1


def _print_row(done: int, seconds: float, wrong: int, values: Sequence[float]) -> None:
    cells = "".join(f"{value:>13.1f}" if value % 1 else f"{value:>13.0f}" for value in values)
    print(f"{done:>9}{seconds:>8.0f}{wrong:>7}{cells}", flush=True)


@contextlib.contextmanager
def _temporary_folder() -> Iterator[None]:
    """Put the temporary files of this process into a separate folder, so that they can be counted."""
    before, variable = tempfile.tempdir, os.environ.get("TMPDIR")
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        Path(folder).chmod(0o755)  # like /tmp: users in containers need to enter it
        tempfile.tempdir = os.environ["TMPDIR"] = folder
        try:
            yield
        finally:
            tempfile.tempdir = before
            os.environ.pop("TMPDIR")
            os.environ.update({"TMPDIR": variable} if variable else {})


if __name__ == "__main__":
    sys.exit(main())
