"""Turn a Policy into a bubblewrap command, and say in one line what a machine lacks that cannot run it.

Covered: no network, own process, mount, user, IPC and host-name spaces, no capabilities, empty environment,
a read-only system reduced to what Python needs, sized temporary file systems, an unprivileged user even when
the host is root. Not covered: the attack surface of Linux itself (there is no system-call filter yet), the
memory of all processes of a session together (`Policy.memory_bytes` holds for each), the number of its files.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.errors import IsolationError
from sandbox.interpreter import Interpreter
from sandbox.policy import MIB, Policy

GUEST_FOLDER = "/opt/room/guest"
IMAGES_FOLDER = "/opt/room/images"
FONTS_FOLDER = "/tmp/.matplotlib"  # its list is read-only, the rest of it is not
WORK_FOLDER = "/tmp/work"
_USER = "1000"  # inside the room; `uid` says which user that is outside
_SYSTEM_LINKS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = ("alternatives", "fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "timezone")
# A room must not outlive its host, however that ends. The parent-death signal alone does not do: it is sent
# when the *thread* ends that started the process, and the outer room, root without capabilities, may not send
# it to the inner one. So a shell waits for the end of its standard input, which the host holds open, and ends
# its process group then.
_WATCH = 'exec 9<&0; { read -r _ <&9; kill -9 0; } >/dev/null 2>&1 & "$@" </dev/null 9<&-; exit $?'
_LIFELINE = ("/bin/sh", "-c", _WATCH, "room")
_OLDEST = (0, 8)  # sized tmpfs and --disable-userns
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": WORK_FOLDER,
    "USER": "guest",
    "LANG": "C.UTF-8",
    "TMPDIR": "/tmp",  # the room's own tmpfs
    "MPLCONFIGDIR": FONTS_FOLDER,
    "IPYTHONDIR": "/tmp/.ipython",
    "JUPYTER_RUNTIME_DIR": "/tmp/.jupyter",
    # Every thread costs address space and counts as a process: leave the limits to the cell.
    "OMP_NUM_THREADS": "2",
    "OPENBLAS_NUM_THREADS": "2",
    "MKL_NUM_THREADS": "2",
    "MALLOC_ARENA_MAX": "2",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
}


def high(descriptor: int) -> int:
    """The descriptor, moved to where it can be passed on: a shell on the way uses those below 10."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return moved


@dataclass(frozen=True, slots=True)
class Mount:
    """A read-only bind: `source` on the host appears as `target` in the room."""

    source: Path
    target: str


@dataclass(frozen=True, slots=True)
class Jail:
    """How to build rooms on this machine. `setpriv` is None when the caller is an ordinary user already."""

    bwrap: str
    setpriv: str | None
    policy: Policy
    interpreter: Interpreter

    def command(self, mounts: tuple[Mount, ...], uid: int, info_fd: int, *payload: str) -> list[str]:
        """The whole argv; the room ends when its standard input does.

        `uid` counts only when the caller is root; `info_fd` gets the room's first pid.
        """
        outside = (*self.interpreter_mounts(), *mounts)
        if self.setpriv is None:
            return [*_LIFELINE, *self._room(outside, info_fd), "--", *payload]
        inside = tuple(Mount(Path(mount.target), mount.target) for mount in outside)
        outer = self._drop_root(self.setpriv, outside, uid)
        return [*outer, *_LIFELINE, *self._room(inside, info_fd), "--", *payload]

    def interpreter_mounts(self) -> tuple[Mount, ...]:
        return tuple(Mount(Path(folder), folder) for folder in self.interpreter.folders)

    def _drop_root(self, setpriv: str, mounts: tuple[Mount, ...], uid: int) -> list[str]:
        """An outer room without a user namespace, left at once as `uid`.

        It shows all that the inner one mounts, at the same path, so that an interpreter below a private home
        can be read after root is given up. The host's /proc is bound, because a new one would have masked
        entries, with which Linux refuses the inner room its own.
        """
        argv = [self.bwrap, "--new-session", "--clearenv", *_system()]
        argv += ["--bind", "/proc", "/proc", "--dev-bind", "/dev", "/dev"]
        argv += ["--perms", "0755", "--dir", "/tmp"]  # where the inner bubblewrap builds its root
        for folder in sorted({str(parent) for mount in mounts for parent in Path(mount.target).parents}):
            argv += ["--perms", "0755", "--dir", folder] if folder != "/" else []
        for mount in mounts:
            argv += ["--ro-bind", str(mount.source), mount.target]
        argv += ["--", setpriv, "--reuid", str(uid), "--regid", str(uid), "--clear-groups", "--inh-caps=-all"]
        return [*argv, "--no-new-privs", "--"]

    def _room(self, mounts: tuple[Mount, ...], info_fd: int) -> list[str]:
        policy = self.policy
        argv = [self.bwrap, "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent"]
        argv += ["--new-session", "--cap-drop", "ALL", "--clearenv", "--hostname", "room"]
        argv += ["--uid", _USER, "--gid", _USER, "--info-fd", str(info_fd), *_system()]
        argv += ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev"]
        argv += [
            "--size",
            str(min(policy.disk_bytes, 64 * MIB)),
            "--tmpfs",
            "/dev/shm",
            "--remount-ro",
            "/dev",
        ]
        argv += ["--size", str(policy.disk_bytes), "--tmpfs", "/tmp", "--dir", WORK_FOLDER]
        for mount in mounts:
            argv += ["--ro-bind", str(mount.source), mount.target]
        argv += ["--remount-ro", "/", "--chdir", WORK_FOLDER]
        for name, value in _ENVIRONMENT.items():
            argv += ["--setenv", name, value]
        return argv


def find_jail(policy: Policy) -> Jail:
    """The way to isolate on this machine, tried out once. Raises IsolationError."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise IsolationError(
            "no isolation: bubblewrap (bwrap) is not on PATH; install it: apt install bubblewrap"
        )
    _check_version(bwrap)
    setpriv = shutil.which("setpriv") if os.getuid() == 0 else None
    if os.getuid() == 0 and setpriv is None:
        raise IsolationError("no isolation: root needs setpriv to give up its rights; apt install util-linux")
    jail = Jail(bwrap, setpriv, policy, Interpreter.current())
    _try_out(jail)
    return jail


def _check_version(bwrap: str) -> None:
    said = subprocess.run([bwrap, "--version"], capture_output=True, text=True, env={}, check=False).stdout
    found = re.search(r"(\d+)\.(\d+)", said)
    if found is None or (int(found[1]), int(found[2])) < _OLDEST:
        raise IsolationError(f"no isolation: {bwrap} is {said.strip()!r}; bubblewrap 0.8 or newer is needed")


def _try_out(jail: Jail) -> None:
    """Run nothing in a room."""
    lifeline, held = os.pipe()
    sink = high(os.open(os.devnull, os.O_WRONLY))
    command = jail.command((), 65534, sink, jail.interpreter.executable, "-I", "-S", "-c", "")
    options: dict[str, Any] = {"stdin": lifeline, "env": {}, "pass_fds": (sink,), "cwd": "/", "text": True}
    try:
        tried = subprocess.run(command, capture_output=True, check=False, start_new_session=True, **options)
    finally:
        for descriptor in (lifeline, held, sink):
            os.close(descriptor)
    if tried.returncode != 0:
        said = (tried.stderr.strip().splitlines() or [f"exit status {tried.returncode}"])[-1]
        raise IsolationError(f"no isolation: {said}; {_way_out()}")


def _way_out() -> str:
    if _sysctl("kernel/apparmor_restrict_unprivileged_userns") == "1":
        return "AppArmor forbids it: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
    if _sysctl("kernel/unprivileged_userns_clone") == "0":
        return "user namespaces are off: sysctl -w kernel.unprivileged_userns_clone=1"
    if _sysctl("user/max_user_namespaces") == "0":
        return "user namespaces are off: sysctl -w user.max_user_namespaces=10000"
    return (
        "bubblewrap cannot make namespaces here; in a container allow them, for instance by docker run "
        "--security-opt seccomp=unconfined --security-opt systempaths=unconfined --cap-add SYS_ADMIN"
    )


def _sysctl(name: str) -> str | None:
    path = Path("/proc/sys", name)
    return path.read_text().strip() if path.exists() else None


def _system() -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for link in map(Path, _SYSTEM_LINKS):
        if link.is_symlink():
            yield from ("--symlink", str(link.readlink()), str(link))
        elif link.is_dir():
            yield from ("--ro-bind", str(link), str(link))
    yield from (
        "--perms",
        "0755",
        "--dir",
        "/etc",
    )  # else it is root's alone, and the inner room cannot read it
    for name in _ETC:
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
