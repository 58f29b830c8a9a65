"""A small process that outlives its host for a moment, and removes what a host that was killed leaves behind."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Sequence
from pathlib import Path

# Lines name the process to end. The end of the input is the end of the host, unless the last word was `done`.
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
    test -d "$group" && { rmdir "$group"/*/ "$group"; left=1; }
  done
  test -z "$left" && exit
  sleep 0.1
done
"""


class OrphanReaper:
    """Watches from its own session over `folder` and over directories of cgroups. Thread-safe."""

    def __init__(self, folder: Path, groups: Sequence[Path] = ()) -> None:
        command = ["/bin/sh", "-c", _SCRIPT, "reaper", str(folder), *map(str, groups)]
        self._process = subprocess.Popen(
            command,
            env={"PATH": "/usr/bin:/bin"},
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def watch(self, pid: int) -> None:
        """End this process, and none that was named before, once the host is gone."""
        self._tell(str(pid))

    def dismiss(self) -> None:
        """The host has cleaned up itself. Twice is once."""
        self._tell("done")
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()

    def _tell(self, word: str) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError, ValueError):  # it was killed, or dismissed
            self._process.stdin.write(f"{word}\n".encode())
            self._process.stdin.flush()
