"""Turn a Policy into bubblewrap commands, and report in one line what a machine lacks to run them.

There are two levels. The *outer container* holds the zygote process of a Sandbox: a read-only view of the file system
with only the interpreter and the images. If the host is root, the zygote runs as an unprivileged user. Inside of it
bubblewrap builds a *container* for each session.

Covered in a container: no network; its own PID, mount, user, IPC, UTS and cgroup namespaces; no capabilities; a seccomp
filter; a reduced environment; a read-only system with only what Python needs; tmpfs with a limit of bytes and files;
an unprivileged user even when the host is root.
Not covered: bugs of Linux in the system calls that the filter allows; forks of one zygote share their address layout
(ASLR) and hash seed; processor time is limited only where there are cgroups.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sandbox.errors import IsolationError
from sandbox.isolation.confinement import CAP_SYS_PTRACE, GUEST, Confinement, has_capability, limits
from sandbox.isolation.interpreter import Interpreter
from sandbox.policy import MIB, Policy

IMAGES_FOLDER = "/opt/room/images"
WORK_FOLDER = "/tmp/work"
_GUEST_FOLDER = "/opt/room/guest"
_MODULES_FOLDER = "/opt/room/modules"
_SESSIONS_FOLDER = "/opt/room/sessions"
_TREE = "/opt/room/tree"  # what all containers share, assembled once
_FONTS_FOLDER = "/tmp/.matplotlib"  # its font list is read-only, the rest is writable
_USER = "1000"  # inside the container; `uid` is the user id outside
_SYSTEM_LINKS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = ("alternatives", "fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "timezone")
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_TRIAL_S = 20.0
_MIN_VERSION = (0, 8)  # sized tmpfs and --disable-userns


@dataclass(frozen=True, slots=True)
class Mount:
    """A read-only bind: `source` on the host appears as `target`."""

    source: Path
    target: str

    @property
    def is_on_tmpfs(self) -> bool:
        """Whether the target is on a tmpfs of each container, which would hide a mount in the shared tree."""
        return self.target.startswith(("/tmp/", "/dev/shm/"))


@dataclass(frozen=True, slots=True)
class Bubblewrap(Confinement):
    """Containers of namespaces. `setpriv` is None if the caller is not root."""

    bwrap: str = "bwrap"
    setpriv: str | None = None

    @property
    def switches_user(self) -> bool:
        return self.setpriv is not None

    def zygote_command(self, sessions: Path, uid: int, control: int) -> list[str]:
        """The argv of the zygote in the outer container."""
        mounts = (Mount(GUEST, _GUEST_FOLDER), Mount(sessions, _SESSIONS_FOLDER))
        return [*self._outer_container(mounts, uid), *self.python_command(control, _GUEST_FOLDER)]

    def trial_command(self) -> list[str]:
        """The argv that runs /bin/true in a container inside the outer container."""
        container = (self.bwrap, *self._container(), "--", "/bin/true")
        return [*self._outer_container((), 65534), *container]

    def setup(self) -> dict[str, Any]:
        """What the zygote needs to build containers: the arguments that come before the mounts of each session."""
        return {
            "kind": "bwrap",
            "bwrap": self.bwrap,
            "arguments": list(self._container()),
            "first_process": first_process(),
            "limits": limits(self.policy),
            "files": {"/tmp": self.policy.disk_files, "/dev/shm": self.policy.disk_files},
            "timeout_s": self.policy.start_timeout_s,
        }

    def images_folder(self, images: Path) -> str:
        """The path at which a session finds the folder `images`, which is below `sessions`."""
        return IMAGES_FOLDER

    def session_mounts(self, images: Path) -> list[str]:
        """The bubblewrap arguments that mount this image folder in the container of a session."""
        return ["--ro-bind", f"{_SESSIONS_FOLDER}/{images.name}", IMAGES_FOLDER]

    def module_folders(self) -> tuple[str, ...]:
        """The paths at which a session finds the folders of `Policy.modules`."""
        return tuple(mount.target for mount in self._module_mounts())

    def work_folder(self, sockets: Path, uid: int) -> str:
        """It is on a tmpfs of the container."""
        return WORK_FOLDER

    def environment(self) -> dict[str, str]:
        """The whole environment of zygote and guest."""
        return self._environment(WORK_FOLDER, _FONTS_FOLDER)

    def _outer_container(self, mounts: Iterable[Mount], uid: int) -> list[str]:
        """The arguments for the system, the interpreter, these mounts, and the tree that the containers mount.

        The host's /proc is bound: a new one would have masked entries, and Linux then refuses the containers
        their own /proc.
        """
        argv = [self.bwrap, *(() if self.setpriv else ("--unshare-user",)), "--new-session", "--clearenv"]
        argv += [*_system(), "--bind", "/proc", "/proc", "--dev-bind", "/dev", "/dev"]
        argv += ["--perms", "1777", "--size", str(64 * MIB), "--tmpfs", "/tmp"]
        argv += _binds((*self._common_mounts(), *mounts))
        in_tree = [
            Mount(each.source, _TREE + each.target) for each in self._common_mounts() if not each.is_on_tmpfs
        ]
        argv += [*_system(_TREE), *_devices(f"{_TREE}/dev", is_measured=self.is_measured), *_binds(in_tree)]
        argv += _folders(f"{_TREE}{folder}/x" for folder in ("/proc", "/tmp", IMAGES_FOLDER))
        argv += ["--remount-ro", "/", *_setenv(self.environment())]
        if self.setpriv is None:
            return [*argv, "--"]
        drop = ("--reuid", str(uid), "--regid", str(uid), "--clear-groups", "--inh-caps=-all")
        return [*argv, "--", self.setpriv, *drop, "--no-new-privs", "--"]

    def _container(self) -> Iterator[str]:
        shared = str(min(self.policy.disk_bytes, 64 * MIB))
        yield from ("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--as-pid-1")
        yield from (
            "--new-session",
            "--cap-drop",
            "ALL",
            "--clearenv",
            "--hostname",
            "container",
            "--chdir",
            WORK_FOLDER,
        )
        yield from ("--uid", _USER, "--gid", _USER, "--dev-bind", _TREE, "/")
        yield from ("--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys")
        yield from ("--size", shared, "--tmpfs", "/dev/shm")
        yield from ("--size", str(self.policy.disk_bytes), "--tmpfs", "/tmp", "--dir", WORK_FOLDER)
        for mount in self._common_mounts():
            yield from ("--ro-bind", mount.target, mount.target) if mount.is_on_tmpfs else ()

    def _common_mounts(self) -> tuple[Mount, ...]:
        """The mounts that zygote and containers share, at the same paths."""
        folders = (Mount(Path(folder), folder) for folder in self.interpreter.folders)
        fonts = (Mount(path, f"{_FONTS_FOLDER}/{path.name}") for path in self.fonts)
        return (*folders, *fonts, *self._module_mounts())

    def _module_mounts(self) -> tuple[Mount, ...]:
        folders = enumerate(self.policy.modules)
        return tuple(Mount(Path(folder), f"{_MODULES_FOLDER}/{number}") for number, folder in folders)


@cache
def first_process() -> tuple[str, ...]:
    """The argv of a container's first process, which reports that the container is ready and then holds it open.

    It ignores SIGCHLD, so that Linux reaps orphaned processes. busybox's env cannot do that: orphans then remain as
    zombies, which count among the guest's processes.
    """
    ignoring = ("env", "--ignore-signal=CHLD")
    can = subprocess.run([*ignoring, "true"], capture_output=True, check=False).returncode == 0
    return ("/bin/sh", "-c", f"echo; exec {' '.join(ignoring) + ' ' if can else ''}sleep infinity")


def move_to_high_fd(descriptor: int) -> int:
    """Move the descriptor above those that a shell may use."""
    import fcntl  # Windows has none, and must be able to import this

    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return moved


def find_bubblewrap(policy: Policy, interpreter: Interpreter, fonts: tuple[Path, ...]) -> Bubblewrap:
    """Find bubblewrap, and test it once. Raises IsolationError."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise IsolationError("bubblewrap (bwrap) is not on PATH; install it: apt install bubblewrap")
    _check_version(bwrap)
    setpriv = shutil.which("setpriv") if os.getuid() == 0 else None
    if os.getuid() == 0 and setpriv is None:
        raise IsolationError("root needs setpriv to give up its rights; apt install util-linux")
    if setpriv and not has_capability(CAP_SYS_PTRACE):
        raise IsolationError(
            "root cannot measure the sessions of another user without CAP_SYS_PTRACE; in a container, run as an "
            "ordinary user, or give it: docker run --cap-add SYS_PTRACE"
        )
    found = Bubblewrap(policy, interpreter, fonts, bwrap=bwrap, setpriv=setpriv)
    _check_bwrap(found)
    return found


def _check_version(bwrap: str) -> None:
    version = subprocess.run([bwrap, "--version"], capture_output=True, text=True, env={}, check=False).stdout
    found = re.search(r"(\d+)\.(\d+)", version)
    if found is None or (int(found[1]), int(found[2])) < _MIN_VERSION:
        raise IsolationError(f"{bwrap} is {version.strip()!r}; bubblewrap 0.8 or newer is needed")


def _check_bwrap(confinement: Bubblewrap) -> None:
    """Run /bin/true in a container inside the outer container. Raises IsolationError."""
    try:
        done = subprocess.run(
            confinement.trial_command(),
            env={},
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TRIAL_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise IsolationError(
            f"{confinement.bwrap} did not build a container within {_TRIAL_S:g} s"
        ) from error
    if done.returncode != 0:
        message = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise IsolationError(f"{message}; {_find_remedy(confinement.bwrap)}")


def _find_remedy(bwrap: str) -> str:
    if _sysctl("kernel/apparmor_restrict_unprivileged_userns") == "1":  # Ubuntu 23.10 and newer
        return (
            f"AppArmor denies {bwrap} user namespaces; allow them for it alone: "
            f"sudo {sys.executable} -m sandbox apparmor"
        )
    if _sysctl("kernel/unprivileged_userns_clone") == "0":
        return "user namespaces are off: sysctl -w kernel.unprivileged_userns_clone=1"
    if _sysctl("user/max_user_namespaces") == "0":
        return "user namespaces are off: sysctl -w user.max_user_namespaces=10000"
    options = [f"--security-opt {each}=unconfined" for each in ("seccomp", "apparmor", "systempaths")]
    if os.getuid() == 0:
        options += ["--cap-add SYS_ADMIN", "--cap-add SYS_PTRACE"]
    return (
        "bubblewrap cannot make namespaces here; in a container allow them, for instance by docker run "
        + " ".join(options)
    )


def _binds(mounts: Iterable[Mount]) -> Iterator[str]:
    mounts = tuple(mounts)
    yield from _folders(mount.target for mount in mounts)
    for mount in mounts:
        yield from ("--ro-bind", str(mount.source), mount.target)


def _folders(paths: Iterable[str]) -> Iterator[str]:
    """Create the parent folders of these paths: those that bubblewrap creates are readable for root alone."""
    for folder in sorted({str(parent) for path in paths for parent in Path(path).parents} - {"/", "/tmp"}):
        # matplotlib writes beside its font list
        yield from ("--perms", "1777" if folder.startswith("/tmp/") else "0755", "--dir", folder)


def _setenv(variables: Mapping[str, str]) -> Iterator[str]:
    for name, value in variables.items():
        yield from ("--setenv", name, value)


def _sysctl(name: str) -> str | None:
    path = Path("/proc/sys", name)
    return path.read_text().strip() if path.exists() else None


def _devices(root: str, *, is_measured: bool) -> Iterator[str]:
    """The device files. No terminals: their number is limited machine-wide."""
    yield from _folders(f"{root}/{folder}/x" for folder in ("pts", "shm"))
    for name in _DEVICES:
        if name != "zero" or not is_measured:  # a shared mapping of /dev/zero is shared anonymous memory
            yield from ("--dev-bind", f"/dev/{name}", f"{root}/{name}")
    for link, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        yield from ("--symlink", f"/proc/self/fd{target}", f"{root}/{link}")


def _system(root: str = "") -> Iterator[str]:
    """Mount what Python needs of the system below this folder, without any user's files."""
    yield from (*_folders([f"{root}/etc/x"]), "--ro-bind", "/usr", f"{root}/usr")
    for link in map(Path, _SYSTEM_LINKS):
        if link.is_symlink():
            yield from ("--symlink", str(link.readlink()), f"{root}{link}")
        elif link.is_dir():
            yield from ("--ro-bind", str(link), f"{root}{link}")
    for name in _ETC:
        yield from ("--ro-bind-try", f"/etc/{name}", f"{root}/etc/{name}")
