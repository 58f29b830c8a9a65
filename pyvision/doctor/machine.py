"""What this machine has to offer: isolation, a kernel that starts, room on the disk, letters for labels."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from pyvision.doctor.findings import Finding
from pyvision.prompts import load
from sandbox import IsolationError, Sandbox, SandboxError, Session

_LITTLE_BYTES = 10**9
_SLOW_START_S = 10.0


def look_at_machine() -> tuple[Finding, ...]:
    """Starts one kernel, if it can be isolated."""
    return (*_isolation(), _disk(Path.cwd()))


def _isolation() -> Iterator[Finding]:
    began = time.monotonic()
    with Sandbox() as sandbox:
        try:
            session = sandbox.open()
            session.run("pass")
        except IsolationError as error:
            yield Finding("isolation", "no", str(error))
            yield Finding("kernel", "not tried")
            yield Finding("CJK fonts", "not tried")
            return
        except SandboxError as error:
            yield Finding("isolation", "yes", "bubblewrap")
            yield Finding("kernel", "no", str(error))
            yield Finding("CJK fonts", "not tried")
            return
        seconds = time.monotonic() - began
        yield Finding("isolation", "yes", "bubblewrap, no network, private files")
        slow = "; slow, is the machine busy?" if seconds > _SLOW_START_S else ""
        yield Finding("kernel", "yes", f"ready after {seconds:.1f} s{slow}", value=round(seconds, 2))
        yield _fonts(session)


def _fonts(session: Session) -> Finding:
    """Whether a figure can have labels in Chinese, Japanese and Korean."""
    result = session.run(load("doctor/fonts.py"))
    if result.status != "ok":
        return Finding("CJK fonts", "unclear", f"the cell that looks for them ended in {result.status}")
    missing = result.text.strip()
    if missing:
        told = f"no letters for {missing.replace(',', ', ')}: labels show as boxes; install fonts-noto-cjk"
        return Finding("CJK fonts", "no", told)
    return Finding("CJK fonts", "yes", "letters for Chinese, Japanese and Korean")


def _disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    told = f"{free / 1e9:,.1f} GB free in the current folder, where runs/ is kept"
    return Finding("disk", "yes" if free > _LITTLE_BYTES else "no", told, value=free)
