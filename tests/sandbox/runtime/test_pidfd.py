from __future__ import annotations

import os
import signal
import subprocess

from sandbox.isolation.processes import send_signal


def test_a_process_that_is_gone_by_then_is_no_error() -> None:
    process = subprocess.Popen(["true"])
    pidfd = os.pidfd_open(process.pid)
    try:
        process.wait()
        send_signal(pidfd, signal.SIGKILL)
    finally:
        os.close(pidfd)


def test_a_process_that_runs_gets_it() -> None:
    process = subprocess.Popen(["sleep", "60"])
    pidfd = os.pidfd_open(process.pid)
    try:
        send_signal(pidfd, signal.SIGTERM)
        assert process.wait(10) == -signal.SIGTERM
    finally:
        os.close(pidfd)
