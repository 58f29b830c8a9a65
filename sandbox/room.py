"""One running room: a bubblewrap process, and the certainty that all of it can be ended."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Sequence

from sandbox.errors import KernelStartError
from sandbox.jail import Jail, Mount, high


class Room:
    """A started room. `init` is a descriptor of its first process: readable once everything in it is gone."""

    def __init__(self, process: subprocess.Popen[bytes], info_fd: int, deadline: float) -> None:
        self._process = process
        self._lock = threading.Lock()
        try:
            self.init = os.pidfd_open(_first_pid(process, info_fd, deadline))
        except (KernelStartError, ProcessLookupError) as error:
            said = _last_line(process)
            self._reap()
            raise KernelStartError(f"the room did not start: {said or error}") from error

    @classmethod
    def open(
        cls,
        jail: Jail,
        mounts: tuple[Mount, ...],
        uid: int,
        payload: Sequence[str],
        descriptors: Sequence[int],
    ) -> Room:
        """Run `payload` in a new room with `descriptors` (see `high`) passed on. Raises KernelStartError."""
        deadline = time.monotonic() + jail.policy.start_timeout_s
        read, write = os.pipe()
        write = high(write)
        try:
            command = jail.command(mounts, uid, write, *payload)
            process = _start(command, (write, *descriptors))
        finally:
            os.close(write)
        try:
            return cls(process, read, deadline)
        finally:
            os.close(read)

    def is_alive(self) -> bool:
        return not select.select([self.init], [], [], 0)[0]

    def last_words(self) -> str:
        """The last line on standard error so far."""
        return _last_line(self._process)

    def kill(self) -> None:
        """Send the signal that ends every process in the room, and do not wait. From any thread."""
        with self._lock:
            if self.init >= 0 and self.is_alive():
                signal.pidfd_send_signal(self.init, signal.SIGKILL)

    def close(self) -> None:
        """End every process in the room and wait until they are gone."""
        self.kill()
        with self._lock:
            if self.init >= 0:
                select.select([self.init], [], [], 5)
                os.close(self.init)
                self.init = -1
                self._reap()

    def _reap(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stderr is not None
        self._process.stdin.close()  # the lifeline
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stderr.close()


def _start(command: Sequence[str], descriptors: tuple[int, ...]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        env={},  # the process of bubblewrap can be read from inside: it must hold no key either
        cwd="/",
        pass_fds=descriptors,
        stdin=subprocess.PIPE,  # the lifeline
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C at the host's terminal is the host's to handle
    )


def _first_pid(process: subprocess.Popen[bytes], info_fd: int, deadline: float) -> int:
    """The pid that bubblewrap writes to `info_fd`, in pieces."""
    said = b""
    while b"}" not in said:
        if select.select([info_fd], [], [], 0.05)[0]:
            said += os.read(info_fd, 4096)
        elif process.poll() is not None:
            raise KernelStartError(f"bubblewrap ended at once with status {process.returncode}")
        elif time.monotonic() > deadline:
            raise KernelStartError("bubblewrap said nothing in time; raise Policy.start_timeout_s")
    return int(json.loads(said)["child-pid"])


def _last_line(process: subprocess.Popen[bytes]) -> str:
    assert process.stderr is not None
    stderr, said = process.stderr.fileno(), b""
    while select.select([stderr], [], [], 0.2)[0] and len(said) < 2**20:
        piece = os.read(stderr, 65536)
        if not piece:
            break
        said += piece
    lines = said.decode(errors="replace").strip().splitlines()
    return lines[-1].strip() if lines else ""
