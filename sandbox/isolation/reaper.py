"""A small process that outlives its host for a moment, and removes what a host that was killed leaves behind.

It is the second line: the zygote's supervisor ends the zygote together with the host, and Linux then ends every
container, whose PID namespaces are below the zygote's.
"""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

# Each line names the process to kill. The end of the input is the end of the host, unless the last word was `done`.
# After the folder come the directories of cgroups, each of which has one directory for each session.
_SCRIPT = """
while read -r word; do
  test "$word" = done && exit
  process=$word
done
test -n "$process" && kill -9 "$process"
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do
  rm -rf -- "$1"
  left=
  for group in "$@"; do
    test -d "$group" || continue
    left=1
    for session in "$group"/*/ "$group/"; do
      test -f "$session"cgroup.kill && echo 1 > "$session"cgroup.kill
      while read -r member; do kill -9 "$member"; done < "$session"cgroup.procs
      rmdir "$session"
    done
  done
  test -z "$left" && exit
  sleep 0.1
done
"""


class OrphanReaper:
    """Watches over `folder` and over directories of cgroups, from a session of its own. Thread-safe.

    One that was killed is replaced at once. Not covered: reaper and host killed in the same moment; then the files
    are left to the next host (`folder.sweep`, `cgroup.sweep`).
    """

    def __init__(self, folder: Path, groups: Sequence[Path] = ()) -> None:
        self._command = ["/bin/sh", "-c", _SCRIPT, "reaper", str(folder), *map(str, groups)]
        self._lock = threading.Lock()
        self._watched: int | None = None
        self._dismissed = False
        self._process = self._start()
        self._replacing = threading.Thread(target=self._replace, name="sandbox-reaper", daemon=True)
        self._replacing.start()

    def watch(self, pid: int) -> None:
        """Kill this process, and none that was named before, once the host is gone."""
        with self._lock:
            self._watched = pid
            self._send(str(pid))

    def dismiss(self) -> None:
        """The host has cleaned up itself. Twice is once."""
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
                self._process = self._start()
                if self._watched is not None:
                    self._send(str(self._watched))

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._command,
            env={"PATH": "/usr/bin:/bin"},
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
