"""The landlock tier, for machines that allow no namespaces: what a session may open, and as which user it runs.

Covered: files (a Landlock domain: the interpreter and system libraries can be read, and only the working folder of the
session can be written); network (seccomp refuses every new socket, so on any Landlock ABI; TCP is also refused by
Landlock from ABI 4); memory and environment of other processes (no process outside of the domain can be traced);
signals (LANDLOCK_SCOPE_SIGNAL from ABI 6; before it the filter allows signals to the sender itself alone); what
Landlock leaves open is refused by the filter (`_refuse_without_namespaces` in seccomp.py).
Not covered: there is no PID namespace, so the existence of processes can be found out (`kill -0` fails, but
differently), and no mount namespace, so that the existence, size and time of a file whose path is known can be found
out; disk space and the number of processes are measured by the watchdog rather than limited at once; /dev/shm cannot be
used; chmod and utime do nothing.
"""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from sandbox.errors import IsolationError
from sandbox.isolation.confinement import GUEST, Confinement, has_capability
from sandbox.isolation.interpreter import Interpreter
from sandbox.isolation.seccomp import OWN_PID
from sandbox.policy import Policy

# linux/landlock.h, asm-generic/unistd.h, linux/capability.h
_SYS_LANDLOCK_CREATE_RULESET, LANDLOCK_CREATE_RULESET_VERSION = 444, 1
CAP_CHOWN, CAP_DAC_READ_SEARCH, CAP_SETGID, CAP_SETUID = 0, 2, 6, 7
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = ("alternatives", "fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "timezone")
_PROC = (
    "cpuinfo",
    "filesystems",
    "loadavg",
    "meminfo",
    "stat",
    "uptime",
    "version",
    "sys/vm/overcommit_memory",
)
_DEVICES = ("full", "null", "random", "urandom", "zero")
_FONTS = "matplotlib"
_HIGHEST_UID = 1_900_000_000


@dataclass(frozen=True, slots=True)
class Landlock(Confinement):
    """Landlock domains and a stricter filter, without namespaces.

    becomes: whether the zygote gives up being root. keeps_reading: whether it keeps CAP_DAC_READ_SEARCH, because the
    interpreter is in a folder that only root can read; Landlock limits what that opens.
    """

    becomes: bool = False
    keeps_reading: bool = False
    uid: int = -1
    abi: int = 0

    @property
    def required_landlock_abi(self) -> int | None:
        return self.abi

    @property
    def switches_user(self) -> bool:
        return self.becomes

    def place_in(self, folder: Path, uid: int) -> Landlock:
        """Let only the zygote's user through the folder, and copy the font lists into it."""
        if self.becomes:
            os.chown(folder, -1, uid)
            folder.chmod(0o710)
        lists = folder / _FONTS
        lists.mkdir()
        lists.chmod(0o755)
        copies = []
        for path in self.fonts:
            copies.append(lists / path.name)
            shutil.copyfile(path, copies[-1])
            copies[-1].chmod(0o644)
        return replace(self, fonts=tuple(copies), uid=uid)

    def setup(self) -> dict[str, Any]:
        """What the zygote needs to confine its forks. `{work}` is the working folder of a session."""
        zero = {"zero"} if self.is_measured else set()  # a shared mapping of it is shared anonymous memory
        return {
            "kind": "landlock",
            "uid": self.uid if self.becomes else None,
            "capabilities": 1 << CAP_DAC_READ_SEARCH if self.keeps_reading else 0,
            "abi": self.abi,
            "own_pid": OWN_PID,
            "read": [*map(str, self._readable()), *(str(path) for path in self.fonts)],
            "write": [f"/dev/{name}" for name in _DEVICES if name not in zero],
            "fonts": [str(path) for path in self.fonts],
            "environment": {
                "HOME": "{work}",
                "TMPDIR": "{work}/.tmp",
                "MPLCONFIGDIR": "{work}/.matplotlib",
                "IPYTHONDIR": "{work}/.ipython",
                "JUPYTER_RUNTIME_DIR": "{work}/.jupyter",
            },
        }

    def work_folder(self, sockets: Path, uid: int) -> str:
        folder = sockets / "work"
        folder.mkdir(mode=0o700)
        if self.becomes:
            os.chown(folder, uid, uid)
        return str(folder)

    def _readable(self) -> Iterator[Path]:
        yield from map(Path, _SYSTEM)
        yield from (Path("/etc", name) for name in _ETC)
        yield from (Path("/proc", name) for name in _PROC)
        yield from _own_paths(self.policy, self.interpreter)


def find_landlock(policy: Policy, interpreter: Interpreter, fonts: tuple[Path, ...]) -> Landlock:
    """Find out whether Landlock works here, and as which user. Raises IsolationError."""
    abi = landlock_abi()
    if abi < 1:
        raise IsolationError(
            f"Linux {os.uname().release} offers no Landlock; it needs Linux 5.13 or newer with the landlock module "
            "(CONFIG_SECURITY_LANDLOCK, and lsm=landlock,… if the kernel command line lists its security modules)"
        )
    if not Path("/proc/thread-self/children").exists():
        raise IsolationError("/proc does not show the children of processes (CONFIG_PROC_CHILDREN)")
    becomes = os.getuid() == 0 and _may_switch_user()
    private = [path for path in _own_paths(policy, interpreter) if not _is_public(path)] if becomes else []
    if private and not has_capability(CAP_DAC_READ_SEARCH):
        raise IsolationError(
            f"{private[0]} is in a folder that only root can read, and cells do not run as root; "
            "install Python and its packages elsewhere, for example in /opt, or start as another user"
        )
    return Landlock(policy, interpreter, fonts, becomes=becomes, keeps_reading=bool(private), abi=abi)


@cache
def landlock_abi() -> int:
    """The Landlock ABI of this Linux; below 1 for none."""
    call = ctypes.CDLL(None, use_errno=True).syscall
    return int(call(_SYS_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), LANDLOCK_CREATE_RULESET_VERSION))


def _own_paths(policy: Policy, interpreter: Interpreter) -> Iterator[Path]:
    """What cells read that is not part of the system."""
    for folder in (*interpreter.folders, *interpreter.packages, *policy.modules):
        yield Path(folder)
    yield GUEST


def _is_public(path: Path) -> bool:
    """Whether every user can read this folder and reach it."""
    try:
        modes = [part.stat().st_mode for part in (path, *path.resolve().parents)]
    except OSError:
        return False
    return all(mode & 0o001 for mode in modes) and bool(modes[0] & 0o004)


def _may_switch_user() -> bool:
    """Whether root can become any other user here: not in a user namespace with few ids, or without capabilities."""
    if not all(has_capability(each) for each in (CAP_CHOWN, CAP_SETGID, CAP_SETUID)):
        return False
    for name in ("uid_map", "gid_map"):
        lines = [line.split() for line in Path("/proc/self", name).read_text().splitlines()]
        if not any(int(first) + int(count) > _HIGHEST_UID for first, _, count in lines):
            return False
    return True
