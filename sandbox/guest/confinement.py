"""How a running process enters a container: join its namespaces, then drop all privileges.

System calls that no library offers are called directly: `unshare`, `setns`, `mount`, `capset`, `prctl` and the three
calls of Landlock (landlock.py). Nothing here can be undone.

Covered: the zygote is the first process of its own PID namespace, so that every container below ends with it, however
it ends.
"""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import fcntl
import os
import resource
import select
import signal
import struct
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NoReturn

# linux/sched.h
CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
_ZYGOTE_NAMESPACES = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC
_CONTAINER_NAMESPACES = _ZYGOTE_NAMESPACES | CLONE_NEWUTS | CLONE_NEWCGROUP
# linux/prctl.h
PR_SET_PDEATHSIG, PR_SET_KEEPCAPS, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 8, 22, 24
PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 38, 47
PR_CAP_AMBIENT_RAISE, PR_CAP_AMBIENT_CLEAR_ALL, SECCOMP_MODE_FILTER = 2, 4, 2
NS_GET_USERNS = 0xB701  # linux/nsfs.h
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND = 1, 2, 4, 8, 32, 4096  # linux/mount.h
_LINUX_CAPABILITY_VERSION_3, CAP_SYS_ADMIN = 0x20080522, 21  # linux/capability.h
_INSTRUCTION, _INSTRUCTION_BYTES = "=HBBI", 8  # struct sock_filter

# Files that describe the whole machine or its other users, and that no library needs. They are replaced by empty files
# and folders; those that this Linux was built without do not exist.
LEAKY_PROC_FILES = (
    *(
        "bootconfig",
        "buddyinfo",
        "cmdline",
        "config.gz",
        "consoles",
        "devices",
        "diskstats",
        "dma",
        "execdomains",
    ),
    *(
        "fb",
        "interrupts",
        "iomem",
        "ioports",
        "kallsyms",
        "kcore",
        "key-users",
        "keys",
        "kmsg",
        "kpagecgroup",
    ),
    *(
        "kpagecount",
        "kpageflags",
        "latency_stats",
        "locks",
        "mdstat",
        "misc",
        "modules",
        "mtrr",
        "pagetypeinfo",
    ),
    *("partitions", "sched_debug", "schedstat", "slabinfo", "softirqs", "swaps", "sys/kernel/random/boot_id"),
    *("cgroups", "sys/fs/aio-nr", "sys/fs/dentry-state", "sys/fs/file-nr", "sys/fs/inode-nr"),
    *("sys/fs/inode-state", "timer_list", "vmallocinfo", "vmstat", "zoneinfo"),
)
LEAKY_PROC_FOLDERS = (
    "acpi",
    "asound",
    "bus",
    "driver",
    "dynamic_debug",
    "fs",
    "irq",
    "pressure",
    "scsi",
    "tty",
)
_EMPTY_FILE, _EMPTY_FOLDER = b"/dev/null", b"/dev/pts"


class _Program(ctypes.Structure):
    """struct sock_fprog of linux/filter.h"""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def unshare_namespaces(host: int, control: int) -> None:
    """Continue as the first process of a new PID namespace, with CAP_SYS_ADMIN to create and enter containers.

    The caller must have one thread and no capabilities. It remains as the supervisor of the forked process that
    continues, and kills it as soon as the host has ended (`host` is its pidfd) or has closed its end of `control`.
    """
    user, group = os.geteuid(), os.getegid()
    call("unshare", _ZYGOTE_NAMESPACES)
    for file, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        Path("/proc/self", file).write_text(text)
    pid = os.fork()
    if pid:
        _supervise(pid, host, control)
    call("prctl", PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    os.close(host)
    call("mount", b"proc", b"/proc", b"proc", ctypes.c_ulong(MS_NOSUID | MS_NODEV | MS_NOEXEC), None)
    set_capabilities(1 << CAP_SYS_ADMIN)


def _supervise(zygote: int, host: int, control: int) -> NoReturn:
    pidfd = os.pidfd_open(zygote)
    poll = select.poll()
    poll.register(host, select.POLLIN)
    poll.register(pidfd, select.POLLIN)
    poll.register(control, 0)  # only its hang-up
    poll.poll()
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    os.waitpid(zygote, 0)
    os._exit(0)


def fork_into(container: int, child: Callable[[], NoReturn]) -> int:
    """Run `child` in a fork inside the PID namespace of a pidfd's process; its pid. After `unshare_namespaces`.

    A separate thread forks, because setns applies to the children of the calling thread and cannot be undone.
    Raises OSError.
    """
    result: list[int | OSError] = []
    context = contextvars.copy_context()

    def fork() -> None:
        try:
            call("setns", container, CLONE_NEWPID)
            pid = os.fork()
        except OSError as error:
            result.append(error)
            return
        if pid == 0:
            context.run(child)
        result.append(pid)

    thread = threading.Thread(target=fork, name="MainThread")  # it is the main thread of the fork
    try:
        thread.start()
    except RuntimeError as error:  # like a fork that fails for lack of processes
        raise OSError(f"fork: {error}") from error
    thread.join()
    if isinstance(result[0], OSError):
        raise result[0]
    return result[0]


def join_namespaces(container: int) -> None:
    """Join the namespaces of the process behind a pidfd."""
    call("setns", container, _CONTAINER_NAMESPACES)


def finish_mounts(container: int, most_files: Mapping[str, int]) -> None:
    """Join the mount namespace, limit the number of files of each tmpfs, and hide LEAKY_PROC_FILES.

    bubblewrap limits only the bytes of a tmpfs, and empty files have none; it also takes 0.1 ms for each hidden file.
    Both need the user namespace that owns the mounts, which is not the inner one of `join_namespaces`.
    """
    mounts = os.open(f"/proc/{container}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
    owner = fcntl.ioctl(mounts, NS_GET_USERNS)
    call("setns", owner, CLONE_NEWUSER)
    call("setns", mounts, CLONE_NEWNS)
    for place, files in most_files.items():
        flags = MS_REMOUNT | MS_NOSUID | MS_NODEV
        call("mount", None, place.encode(), None, ctypes.c_ulong(flags), f"nr_inodes={files}".encode())
    for name in LEAKY_PROC_FILES:
        _hide(Path("/proc", name), _EMPTY_FILE)
    for name in LEAKY_PROC_FOLDERS:
        _hide(Path("/proc", name), _EMPTY_FOLDER)
    os.close(owner)
    os.close(mounts)


def _hide(path: Path, by: bytes) -> None:
    if path.exists():
        flags = MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NOEXEC | MS_NODEV
        call("mount", by, bytes(path), None, ctypes.c_ulong(MS_BIND), None)
        call("mount", None, bytes(path), None, ctypes.c_ulong(flags), None)


def set_limits(limits: Mapping[str, int], pid: int = 0) -> None:
    """Set resource limits by name (`RLIMIT_…`), both soft and hard; a lower one that is in force stays."""
    for name, value in limits.items():
        limit = getattr(resource, name)
        _, most = resource.prlimit(pid, limit)
        least = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.prlimit(pid, limit, (least, least))


def drop_privileges(
    filters: Iterable[bytes], enter_domain: Callable[[], None], capabilities: int = 0
) -> None:
    """Drop all capabilities but those in the mask, enter a Landlock domain, and load the seccomp filters."""
    drop_bounding_set(capabilities)
    call("prctl", PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    set_capabilities(capabilities, capabilities)
    for capability in range(32):
        if capabilities >> capability & 1:  # programs that are executed keep it too
            call("prctl", PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0)
    call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    enter_domain()
    load_filters(filters)


def drop_bounding_set(capabilities: int = 0) -> None:
    """Let no program that is executed gain a capability but these. Without CAP_SETPCAP it stays as it is."""
    for capability in range(64):
        if not capabilities >> capability & 1 and libc().prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break  # this one and those above do not exist


def become_user(uid: int, capabilities: int) -> None:
    """Give up being root for good, with all capabilities but those in the mask."""
    drop_bounding_set(capabilities)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    call("prctl", PR_SET_KEEPCAPS, 1, 0, 0, 0)
    os.setresuid(uid, uid, uid)
    set_capabilities(capabilities, capabilities)


def name_own_pid(program: bytes, stand_in: int) -> bytes:
    """The classic BPF program with the pid of this process in place of a number that stands for it."""
    instructions = struct.iter_unpack(_INSTRUCTION, program)
    return b"".join(
        struct.pack(_INSTRUCTION, code, true, false, os.getpid() if value == stand_in else value)
        for code, true, false, value in instructions
    )


def load_filters(filters: Iterable[bytes]) -> None:
    """Load these classic BPF programs as seccomp filters, for this process and its children."""
    call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    for program in filters:
        code = ctypes.create_string_buffer(program, len(program))
        loaded = _Program(len(program) // _INSTRUCTION_BYTES, ctypes.addressof(code))
        call("prctl", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(loaded), 0, 0)


def set_capabilities(permitted: int, inheritable: int = 0) -> None:
    """Keep only these of the first 32 capabilities, none of the others."""
    header = (ctypes.c_uint32 * 2)(_LINUX_CAPABILITY_VERSION_3, 0)
    call("capset", header, (ctypes.c_uint32 * 6)(permitted, permitted, inheritable))


def call(function: str, *arguments: object) -> None:
    if getattr(libc(), function)(*arguments) != 0:
        raise _failure(function)


def syscall(number: int, *arguments: object) -> int:
    result: int = libc().syscall(number, *arguments)
    if result < 0:
        raise _failure(f"system call {number}")
    return result


def _failure(what: str) -> OSError:
    code = ctypes.get_errno()
    return OSError(code, f"{what}: {os.strerror(code)}")


@cache
def libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
