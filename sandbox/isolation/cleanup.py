"""What a Sandbox holds on the host, and its removal, even after the host was killed.

The orphan reaper is the second line of defence: the supervisor of the zygote ends the zygote together with the host,
and Linux then ends every container, whose PID namespaces are below the zygote's.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sandbox.errors import SandboxError

_PREFIX = "pyvision-sandbox-"
_MARK = ".of-a-sandbox"
_MAX_PATH_BYTES = 60  # the path of a Unix socket has 107 bytes at most
_NEW_S = 60.0  # a folder this young may be one that its host is about to lock
_ENOUGH_FILES = 1024  # that a process may open; a kernel starts with a few hundred
_FIRST_UID = 1_800_000_000  # far from what user databases, containers and systemd allocate
_UIDS = 1 << 20
# Each input line names the process to kill. The end of the input means that the host has ended, unless the last line
# was `done`. The arguments are cgroup directories, each with one subdirectory per session.
_SCRIPT = """
while read -r word; do
  test "$word" = done && exit
  process=$word
done
test -n "$process" && kill -9 "$process"
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do
  rm -rf -- "$FOLDER" || test "$try" -lt 6 || chmod -R u+rwX -- "$FOLDER"
  left=
  for group in "$@"; do
    test -d "$group" || continue
    left=1
    for session in "$group"/*/ "$group/"; do
      test -f "$session"pids.max && echo 0 > "$session"pids.max
      test -f "$session"cgroup.kill && echo 1 > "$session"cgroup.kill
      while read -r member; do test "$member" = 0 || kill -9 "$member"; done < "$session"cgroup.procs
      rmdir "$session"
    done
  done
  test -z "$left" && exit
  sleep 0.1
done
"""


def explain_start_error(message: str) -> str:
    """The message of a kernel that did not start, with the fix where it can be told from this process."""
    if "Bad file descriptor" in message or "Too many open files" in message:
        import resource  # Windows has none, and must be able to import this

        files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if not 0 <= files < _ENOUGH_FILES:  # RLIM_INFINITY is -1
            return message
        return f"{message}; a process may open {files} files here: raise it with ulimit -n {_ENOUGH_FILES}"
    if "Permission denied" not in message:
        return message
    if (umask := _umask()) & 0o700:
        return f"{message}; the umask {umask:03o} denies this user its own files: set it to 022"
    if os.getuid() != 0:
        return message
    return (
        f"{message}; if other users cannot enter {temporary_folder()} (a private folder, NFS, FUSE), "
        "set TMPDIR to a folder on a local disk that they can enter, such as /tmp"
    )


def _umask() -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    found = re.search(r"^Umask:\s*([0-7]+)", status, re.MULTILINE)
    return int(found[1], 8) if found else 0


class PrivateFolder:
    """A folder that only the caller's user can read, locked for as long as its host lives."""

    def __init__(self) -> None:
        self.path = temporary_folder() / f"{_PREFIX}{os.urandom(6).hex()}"  # that nobody can predict
        self._remove: weakref.finalize[..., Any] | None = None

    def make(self) -> None:
        import fcntl

        self.path.mkdir(mode=0o700)
        (self.path / _MARK).touch()
        lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(lock, fcntl.LOCK_EX)
        self._remove = weakref.finalize(self, _remove, self.path, lock)

    def close(self) -> None:
        """Remove it with its contents. This also happens when the host exits without calling it."""
        if self._remove is not None:
            self._remove()


class UserId:
    """A user id of the host that no other running container has, held until `close`. Only root can hand them out.

    RLIMIT_NPROC counts processes by user. The claim is an abstract socket: it disappears with the process that
    holds it, and leaves no file behind.
    """

    def __init__(self) -> None:
        start = int.from_bytes(os.urandom(4), "big")
        for step in range(_UIDS):
            self.number = _FIRST_UID + (start + step) % _UIDS
            self._claim = socket.socket(socket.AF_UNIX)
            try:
                self._claim.bind(f"\0sandbox-uid-{self.number}")
            except OSError:
                self._claim.close()  # another container has it
                continue
            return
        raise SandboxError(f"all {_UIDS} user ids for containers are taken; close some sessions")

    def close(self) -> None:
        self._claim.close()


class OrphanReaper:
    """A small process that removes `folder` and cgroup directories once its host was killed. Thread-safe.

    Start it before the folder is made: the host can be killed at any moment. It runs in its own session. If it is
    killed, it is replaced at once. Not covered: reaper and host killed at the same moment; then the next host removes
    the files (`sweep` here and in cgroup.py).
    """

    def __init__(self, folder: Path, groups: Sequence[Path] = ()) -> None:
        self._command = ["/bin/sh", "-c", _SCRIPT, "reaper", *map(str, groups)]
        self._folder = folder
        self._lock = threading.Lock()
        self._watched: int | None = None
        self._dismissed = False
        self._start()
        self._replacing = threading.Thread(target=self._replace, name="sandbox-reaper", daemon=True)
        self._replacing.start()

    def watch(self, pid: int) -> None:
        """Kill this process, instead of the one named before, once the host has ended."""
        with self._lock:
            self._watched = pid
            self._send(str(pid))

    def dismiss(self) -> None:
        """End the reaper, because the host cleans up itself. May be called twice."""
        with self._lock:
            self._dismissed = True
            self._send("done")
            assert self._process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        self._replacing.join()

    def _replace(self) -> None:
        while True:
            self._process.wait()
            with self._lock:
                if self._dismissed:
                    return
                assert self._process.stdin is not None
                with contextlib.suppress(BrokenPipeError):
                    self._process.stdin.close()
                self._start()
                if self._watched is not None:
                    self._send(str(self._watched))

    def _start(self) -> None:
        self._process = subprocess.Popen(
            self._command,
            # Not an argument: every user of the machine can read those.
            env={"PATH": "/usr/bin:/bin", "FOLDER": str(self._folder)},
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _send(self, word: str) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError, ValueError):  # it was killed, or dismissed
            self._process.stdin.write(f"{word}\n".encode())
            self._process.stdin.flush()


def sweep() -> None:
    """Remove the folders of hosts that were killed: they hold copies of users' images."""
    import fcntl

    for path in temporary_folder().glob(f"{_PREFIX}*"):
        try:
            status = path.lstat()
            if not (path / _MARK).exists():
                continue  # a user's own folder, which happens to have this name
            if status.st_uid != os.getuid() or time.time() - status.st_mtime < _NEW_S:
                continue
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue  # removed meanwhile, or not ours
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)  # its host lives
        else:
            _remove(path, lock)


def remove_tree(path: Path) -> None:
    """Remove a folder in which a guest could write: its folders can be unreadable, or too deep for Python.

    No process of the guest may be left: chmod could be led astray by one.
    """
    if not path.exists():
        return
    with contextlib.suppress(RecursionError):
        shutil.rmtree(path, ignore_errors=True)
    if path.exists():
        for command in (("chmod", "-R", "u+rwX"), ("rm", "-rf")):
            subprocess.run([*command, "--", str(path)], capture_output=True, check=False)


def _remove(path: Path, lock: int) -> None:
    remove_tree(path)
    os.close(lock)


def temporary_folder() -> Path:
    """The folder for temporary files, or /tmp if its path is too long for sockets in it."""
    folder = tempfile.gettempdir()
    return Path(folder if len(folder) <= _MAX_PATH_BYTES else "/tmp")
