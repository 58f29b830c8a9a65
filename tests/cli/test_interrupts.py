from __future__ import annotations

import subprocess
import sys

SWALLOWED = """
import os, signal, weakref
from pyvision.cli.main import _Interrupts

class Thing: pass

interrupts = _Interrupts()
reader, writer = os.pipe()
thing = Thing()
watched = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGTERM))
try:
    del thing  # its callback is interrupted, and Python swallows what comes out of a callback
    os.read(reader, 1)  # never ends by itself
except KeyboardInterrupt:
    print("interrupted", interrupts.seen)
"""


def test_an_interrupt_that_a_callback_swallowed_comes_again_to_a_blocked_read() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SWALLOWED], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.stdout, done.stderr) == ("interrupted True\n", "")


def test_an_interrupt_comes_again_however_slow_the_machine_is() -> None:
    slow = """
import threading, time
start = threading.Thread.start
threading.Thread.start = lambda thread: (start(thread), time.sleep(0.5))
"""
    done = subprocess.run(
        [sys.executable, "-c", slow + SWALLOWED], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.stdout, done.stderr) == ("interrupted True\n", "")


def test_other_errors_of_callbacks_are_still_reported() -> None:
    fails = SWALLOWED.replace("signal.raise_signal(signal.SIGTERM)", "1 / 0").replace(
        "os.read(reader, 1)", "pass"
    )
    done = subprocess.run(
        [sys.executable, "-c", fails], capture_output=True, text=True, timeout=30, check=False
    )
    assert "ZeroDivisionError" in done.stderr
