"""The way into a container for a process that already runs: its namespaces, then everything that it may not do.

Only what no library offers is called directly: `unshare`, `setns`, `mount`, `capset` and `prctl`. Nothing here can be
undone.
"""

from __future__ import annotations

import contextvars
import ctypes
import fcntl
import os
import resource
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NoReturn

# linux/sched.h: every kind of namespace that a container has of its own
_USER, _MOUNT, _PID, _NETWORK = 0x10000000, 0x00020000, 0x20000000, 0x40000000
_IPC, _HOST_NAME, _CGROUP = 0x08000000, 0x04000000, 0x02000000
_NAMESPACES = _USER | _MOUNT | _PID | _NETWORK | _IPC | _HOST_NAME | _CGROUP
# linux/prctl.h
_SET_SECCOMP, _DROP_BOUNDING, _NO_NEW_PRIVILEGES, _AMBIENT = 22, 24, 38, 47
_CLEAR_ALL, _FILTER = 4, 2
# linux/nsfs.h, linux/mount.h
_OWNER_OF = 0xB701
_NO_SET_UID, _NO_DEVICES, _REMOUNT = 2, 4, 32
# linux/capability.h
_CAPABILITY_VERSION, _ADMINISTRATOR = 0x20080522, 1 << 21
_INSTRUCTION_BYTES = 8  # struct sock_filter


class _Program(ctypes.Structure):
    """struct sock_fprog of linux/filter.h"""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def own_namespaces() -> None:
    """Be the owner of a new user namespace, with one right in it: to enter the containers that are made below it.

    For a process with one thread and without rights, which it has none of outside of that namespace afterwards either.
    """
    user, group = os.geteuid(), os.getegid()
    _call("unshare", _USER)
    for file, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        Path("/proc/self", file).write_text(text)
    _set_capabilities(_ADMINISTRATOR)


def fork_into(container: int, child: Callable[[], NoReturn]) -> int:
    """Run `child` in a fork inside the PID namespace of the process behind a pidfd; its pid. After `own_namespaces`.

    A thread forks, for which alone that namespace is the one of its children: there would be no way back out of it.
    Raises OSError.
    """
    born: list[int | OSError] = []
    context = contextvars.copy_context()

    def fork() -> None:
        try:
            _call("setns", container, _PID)
            pid = os.fork()
        except OSError as error:
            born.append(error)
            return
        if pid == 0:
            context.run(child)
        born.append(pid)

    thread = threading.Thread(target=fork, name="MainThread")  # which it is in the fork
    try:
        thread.start()
    except RuntimeError as error:  # as a fork that Linux has no process for
        raise OSError(f"fork: {error}") from error
    thread.join()
    if isinstance(born[0], OSError):
        raise born[0]
    return born[0]


def enter(container: int) -> None:
    """Join the namespaces of the process behind a pidfd."""
    _call("setns", container, _NAMESPACES)


def limit_files(container: int, most: Mapping[str, int]) -> None:
    """Let each of these tmpfs of the container of this process hold so many files and folders; be in there from now on.

    bubblewrap limits only their bytes, which empty files have none of. The right to it goes with the namespace of
    users that the mounts belong to, which is not the inner one of `enter`.
    """
    mounts = os.open(f"/proc/{container}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
    owner = fcntl.ioctl(mounts, _OWNER_OF)
    _call("setns", owner, _USER)
    _call("setns", mounts, _MOUNT)
    for place, files in most.items():
        flags = _REMOUNT | _NO_SET_UID | _NO_DEVICES
        _call("mount", None, place.encode(), None, ctypes.c_ulong(flags), f"nr_inodes={files}".encode())
    os.close(owner)
    os.close(mounts)


def limit(limits: Mapping[str, int], pid: int = 0) -> None:
    """Set resource limits by their name, `RLIMIT_…`, soft and hard alike."""
    for name, value in limits.items():
        resource.prlimit(pid, getattr(resource, name), (value, value))


def give_up_rights(filters: Iterable[bytes]) -> None:
    """Drop every capability, forbid new privileges, and let only the system calls of the filters through."""
    for capability in range(64):
        if _libc().prctl(_DROP_BOUNDING, capability, 0, 0, 0) != 0:
            break  # this one and those above do not exist
    _call("prctl", _AMBIENT, _CLEAR_ALL, 0, 0, 0)
    _set_capabilities(0)
    _call("prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    for program in filters:
        code = ctypes.create_string_buffer(program, len(program))
        loaded = _Program(len(program) // _INSTRUCTION_BYTES, ctypes.addressof(code))
        _call("prctl", _SET_SECCOMP, _FILTER, ctypes.byref(loaded), 0, 0)


def _set_capabilities(permitted: int) -> None:
    """Of the first 32 capabilities these and no others, and nothing for programs to inherit."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    _call("capset", header, (ctypes.c_uint32 * 6)(permitted, permitted))


def _call(function: str, *arguments: object) -> None:
    if getattr(_libc(), function)(*arguments) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{function}: {os.strerror(code)}")


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
