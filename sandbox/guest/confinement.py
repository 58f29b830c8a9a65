"""How a running process enters a container: join its namespaces, then drop all privileges.

System calls that no library offers are called directly: `unshare`, `setns`, `mount`, `capset`, `prctl` and the three
calls of Landlock. Nothing here can be undone.

Covered: the zygote is the first process of its own PID namespace, so that every container below ends with it, however
it ends. A guest is in a Landlock domain: it can neither trace nor write to the memory of the process that holds its
container open, which is outside of that domain (security/landlock/task.c, hook_ptrace_access_check); since ABI 6
(Linux 6.12) it cannot signal it either. That process would ignore the signals anyway, as the first of its PID
namespace, and it is under the guest's own limits and filter.
Not covered: before Linux 5.19 there is no such domain (`landlock_abi`): a guest can then modify that process, but gains
nothing by it, because teardown does not depend on that process.
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
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 1, 22, 24, 38, 47
PR_CAP_AMBIENT_CLEAR_ALL, SECCOMP_MODE_FILTER = 4, 2
NS_GET_USERNS = 0xB701  # linux/nsfs.h
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND = 1, 2, 4, 8, 32, 4096  # linux/mount.h
_LINUX_CAPABILITY_VERSION_3, CAP_SYS_ADMIN = 0x20080522, 21  # linux/capability.h
# linux/landlock.h, asm-generic/unistd.h
_SYS_LANDLOCK_CREATE_RULESET, _SYS_LANDLOCK_ADD_RULE, _SYS_LANDLOCK_RESTRICT_SELF = 444, 445, 446
LANDLOCK_CREATE_RULESET_VERSION, LANDLOCK_RULE_PATH_BENEATH = 1, 1
LANDLOCK_ACCESS_FS_REFER = 1 << 13
LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET, LANDLOCK_SCOPE_SIGNAL = 1, 2
_ABI_REFER, _ABI_SCOPE = 2, 6
_INSTRUCTION_BYTES = 8  # struct sock_filter

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
    *("timer_list", "vmallocinfo", "vmstat", "zoneinfo"),
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


class _Ruleset(ctypes.Structure):
    """struct landlock_ruleset_attr"""

    _fields_ = (
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _PathBeneath(ctypes.Structure):
    """struct landlock_path_beneath_attr"""

    _pack_ = 1
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def unshare_namespaces(host: int, control: int) -> None:
    """Continue as the first process of a new PID namespace, with CAP_SYS_ADMIN to create and enter containers.

    The caller must have one thread and no capabilities. It remains as the supervisor of the forked process that
    continues, and kills it as soon as the host has ended (`host` is its pidfd) or has closed its end of `control`.
    """
    user, group = os.geteuid(), os.getegid()
    _call("unshare", _ZYGOTE_NAMESPACES)
    for file, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        Path("/proc/self", file).write_text(text)
    pid = os.fork()
    if pid:
        _supervise(pid, host, control)
    _call("prctl", PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    os.close(host)
    _call("mount", b"proc", b"/proc", b"proc", ctypes.c_ulong(MS_NOSUID | MS_NODEV | MS_NOEXEC), None)
    _set_capabilities(1 << CAP_SYS_ADMIN)


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
            _call("setns", container, CLONE_NEWPID)
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
    _call("setns", container, _CONTAINER_NAMESPACES)


def finish_mounts(container: int, most_files: Mapping[str, int]) -> None:
    """Join the mount namespace, limit the number of files of each tmpfs, and hide LEAKY_PROC_FILES.

    bubblewrap limits only the bytes of a tmpfs, and empty files have none; it also takes 0.1 ms for each hidden file.
    Both need the user namespace that owns the mounts, which is not the inner one of `join_namespaces`.
    """
    mounts = os.open(f"/proc/{container}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
    owner = fcntl.ioctl(mounts, NS_GET_USERNS)
    _call("setns", owner, CLONE_NEWUSER)
    _call("setns", mounts, CLONE_NEWNS)
    for place, files in most_files.items():
        flags = MS_REMOUNT | MS_NOSUID | MS_NODEV
        _call("mount", None, place.encode(), None, ctypes.c_ulong(flags), f"nr_inodes={files}".encode())
    for name in LEAKY_PROC_FILES:
        _hide(Path("/proc", name), _EMPTY_FILE)
    for name in LEAKY_PROC_FOLDERS:
        _hide(Path("/proc", name), _EMPTY_FOLDER)
    os.close(owner)
    os.close(mounts)


def _hide(path: Path, by: bytes) -> None:
    if path.exists():
        flags = MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NOEXEC | MS_NODEV
        _call("mount", by, bytes(path), None, ctypes.c_ulong(MS_BIND), None)
        _call("mount", None, bytes(path), None, ctypes.c_ulong(flags), None)


def set_limits(limits: Mapping[str, int], pid: int = 0) -> None:
    """Set resource limits by name (`RLIMIT_…`), both soft and hard."""
    for name, value in limits.items():
        resource.prlimit(pid, getattr(resource, name), (value, value))


def drop_privileges(filters: Iterable[bytes]) -> None:
    """Drop every capability, enter a Landlock domain, and load the seccomp filters."""
    for capability in range(64):
        if _libc().prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break  # this one and those above do not exist
    _call("prctl", PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    _set_capabilities(0)
    _call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _enter_landlock_domain()
    load_filters(filters)


def load_filters(filters: Iterable[bytes]) -> None:
    """Load these classic BPF programs as seccomp filters, for this process and its children."""
    _call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    for program in filters:
        code = ctypes.create_string_buffer(program, len(program))
        loaded = _Program(len(program) // _INSTRUCTION_BYTES, ctypes.addressof(code))
        _call("prctl", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(loaded), 0, 0)


@cache
def landlock_abi() -> int:
    """The Landlock ABI of this Linux; 0 for none, or for one that cannot be used here."""
    abi = _libc().syscall(_SYS_LANDLOCK_CREATE_RULESET, None, 0, LANDLOCK_CREATE_RULESET_VERSION)
    return abi if abi >= _ABI_REFER else 0


def _enter_landlock_domain() -> None:
    """Enter a domain that forbids only what every domain forbids: tracing or signalling processes outside of it.

    A ruleset must handle some access. Before ABI 6 that is LANDLOCK_ACCESS_FS_REFER, which is then allowed everywhere.
    """
    if not landlock_abi():
        return
    scoped = landlock_abi() >= _ABI_SCOPE
    attribute = _Ruleset(
        0 if scoped else LANDLOCK_ACCESS_FS_REFER,
        0,
        LANDLOCK_SCOPE_SIGNAL | LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET if scoped else 0,
    )
    size = ctypes.sizeof(attribute) if scoped else 8
    ruleset = _syscall(_SYS_LANDLOCK_CREATE_RULESET, ctypes.byref(attribute), ctypes.c_size_t(size), 0)
    if not scoped:
        root = os.open("/", os.O_PATH | os.O_CLOEXEC)
        rule = _PathBeneath(LANDLOCK_ACCESS_FS_REFER, root)
        _syscall(_SYS_LANDLOCK_ADD_RULE, ruleset, LANDLOCK_RULE_PATH_BENEATH, ctypes.byref(rule), 0)
        os.close(root)
    _syscall(_SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _set_capabilities(permitted: int) -> None:
    """Keep only these of the first 32 capabilities, none of the others, and no inheritable ones."""
    header = (ctypes.c_uint32 * 2)(_LINUX_CAPABILITY_VERSION_3, 0)
    _call("capset", header, (ctypes.c_uint32 * 6)(permitted, permitted))


def _call(function: str, *arguments: object) -> None:
    if getattr(_libc(), function)(*arguments) != 0:
        raise _failure(function)


def _syscall(number: int, *arguments: object) -> int:
    result: int = _libc().syscall(number, *arguments)
    if result < 0:
        raise _failure(f"system call {number}")
    return result


def _failure(what: str) -> OSError:
    code = ctypes.get_errno()
    return OSError(code, f"{what}: {os.strerror(code)}")


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
