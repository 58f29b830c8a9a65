"""What this machine has to offer: isolation, a kernel that starts, room on the disk, letters for labels."""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from pyvision.doctor.findings import Finding
from pyvision.text.prompts import load
from sandbox import IsolationError, Sandbox, SandboxError, Session

_LITTLE_BYTES = 10**9
_SLOW_START_S = 10.0
_STARTS = 5


def check_host() -> tuple[Finding, ...]:
    """Starts some kernels, if they can be isolated."""
    return (*_isolation(), _disk(Path.cwd()))


def _isolation() -> Iterator[Finding]:
    began = time.monotonic()
    with Sandbox() as sandbox:
        try:
            session = sandbox.open()
            session.run("pass")
            first_s = time.monotonic() - began
        except IsolationError as error:
            yield Finding("isolation", "no", str(error))
            yield Finding("kernel", "not tried")
            yield Finding("CJK fonts", "not tried")
            return
        except SandboxError as error:
            yield Finding("isolation", "yes", _walls(sandbox))
            yield Finding("kernel", "no", str(error))
            yield Finding("CJK fonts", "not tried")
            return
        yield Finding("isolation", "yes", _walls(sandbox))
        yield _starts(first_s, _later_s(sandbox))
        yield _fonts(session)


def _walls(sandbox: Sandbox) -> str:
    walls = sandbox.layers()
    missing = ", ".join(f"{wall.name} ({wall.detail})" for wall in walls if not wall.is_present)
    return ", ".join(wall.name for wall in walls if wall.is_present) + (f"; not {missing}" if missing else "")


def _later_s(sandbox: Sandbox) -> float:
    """The median time to the end of a first cell, of sessions after the first."""
    return statistics.median(_session_s(sandbox) for _ in range(_STARTS))


def _session_s(sandbox: Sandbox) -> float:
    began = time.monotonic()
    with sandbox.open() as session:
        session.run("pass")
        return time.monotonic() - began


def _starts(first_s: float, later_s: float) -> Finding:
    slow = "; slow, is the machine busy?" if first_s > _SLOW_START_S else ""
    told = f"the first is ready after {first_s:.1f} s, a later one after {later_s * 1000:.0f} ms{slow}"
    return Finding("kernel", "yes", told, value=round(later_s, 3))


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
