"""The seccomp filter of every container: it allows what Python and its libraries need, and refuses the rest.

It is an allow-list: a system call added by a newer Linux is refused until it is listed. A refused call fails as if
Linux did not implement it (ENOSYS), so that libraries use a fallback. Calls of another architecture (32 bits, x32) kill
the process.

Covered: tracing and reading other processes, keyrings, bpf, io_uring, userfaultfd, perf, every mount call, new
namespaces, modules, kexec, clocks, swap, raw and unusual sockets, typing into a terminal (TIOCSTI). Not covered:
bugs of Linux in the allowed calls; open, ioctl, prctl and the network calls have a large attack surface.
"""

from __future__ import annotations

import mmap
import os
import socket
from functools import cache
from pathlib import Path
from typing import Any

from sandbox.errors import IsolationError

_ALLOWED_CALLS = Path(__file__).parent / "system_calls.txt"
_REFUSED_CLONE_FLAGS = (
    0x00008000,  # CLONE_PARENT: a child of the zygote rather than of the guest
    0x00020000,  # CLONE_NEWNS
    0x02000000,  # CLONE_NEWCGROUP
    0x04000000,  # CLONE_NEWUTS
    0x08000000,  # CLONE_NEWIPC
    0x10000000,  # CLONE_NEWUSER
    0x20000000,  # CLONE_NEWPID
    0x40000000,  # CLONE_NEWNET
)
_REFUSED_IOCTLS = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX: they inject input into a terminal
# linux/fcntl.h. System files are the same inodes in every session and on the host: a lease or a lock delays others, a
# notification reveals their activity. F_SETPIPE_SZ: the memory of large pipes is limited per user. POSIX locks are
# allowed, for SQLite: F_SETLK on a system file can only be a read lock, since it cannot be opened for writing.
_REFUSED_FCNTLS = {
    "F_SETLEASE": 1024,
    "F_NOTIFY": 1026,
    "F_SETPIPE_SZ": 1031,
    "F_OFD_SETLK": 37,
    "F_OFD_SETLKW": 38,
}
_RWF_NOWAIT = 0x8  # linux/fs.h: fails if a file is not in the page cache, which reveals what others have read
# The zygote has a short deny-list: bubblewrap, which it starts, needs the calls that make namespaces and mounts.
_ZYGOTE_DENIED_CALLS = """
    acct add_key adjtimex bpf clock_adjtime clock_settime delete_module fanotify_init finit_module init_module
    io_uring_enter io_uring_register io_uring_setup ioperm iopl kcmp kexec_file_load kexec_load keyctl lookup_dcookie
    migrate_pages move_pages nfsservctl open_by_handle_at perf_event_open pidfd_getfd process_vm_readv
    process_vm_writev ptrace quotactl quotactl_fd reboot request_key settimeofday swapoff swapon syslog userfaultfd
    vhangup
"""
_UNMEASURED_CALLS = ("memfd_create", "shmget", "msgget", "semget", "vmsplice")
_UNMEASURED_OPTIONS = (
    7,
    8,
    60,
)  # SO_SNDBUF, SO_RCVBUF, SO_ZEROCOPY: buffers stay small and hold no pages of processes
# In the landlock tier
_NAMESPACED_CALLS = """
    bind connect listen sendmsg sendmmsg sched_setattr process_madvise process_mrelease setxattr lsetxattr fsetxattr
    removexattr lremovexattr fremovexattr shmget shmat shmctl shmdt semget semop semtimedop semctl
    msgget msgsnd msgrcv msgctl
"""
_ATTRIBUTE_CALLS = """
    chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes utimensat futimesat
    sched_setparam
"""  # they do nothing: libraries call them on their own files, and libzmq on its threads, and do not expect a failure
_OTHERS_BY_ARGUMENT = (("prlimit64", 0), ("sched_setaffinity", 0))
_IOPRIO_WHO_PROCESS = 1
_SCHEDULERS = 8  # linux/sched.h has fewer
_SIGNAL_FCNTLS = {"F_SETOWN": 8, "F_SETSIG": 10, "F_SETOWN_EX": 15}  # who gets a signal when a file is ready
_SIGNAL_IOCTLS = (0x8901, 0x8902)  # FIOSETOWN, SIOCSPGRP: the same by ioctl
_PR_SET_DUMPABLE = 4  # the watchdog could not read the memory and the open files of such a process
_ABI_TRUNCATE, _ABI_SCOPE = 3, 6
OWN_PID = 0x5AFE_71D0
"""Stands for the guest's pid in the filter: no pid is as large."""
_MAP_TYPE, _MAP_SHARED_VALIDATE = 0xF, 3  # linux/mman.h
_TYPE, _LOW_32_BITS = 0xF, 0xFFFFFFFF
_INTERNET = (
    (socket.SOCK_STREAM, 0),
    (socket.SOCK_STREAM, socket.IPPROTO_TCP),
    (socket.SOCK_DGRAM, 0),
    (socket.SOCK_DGRAM, socket.IPPROTO_UDP),
)
_NETLINK_ROUTE = 0  # libzmq lists the network interfaces, and aborts if it cannot
_ALLOW = 0x7FFF0000  # SECCOMP_RET_ALLOW
_QUERY_PERSONALITY = 0xFFFFFFFF  # personality() as a query


@cache
def filter_programs(*, is_measured: bool = False, landlock_abi: int | None = None) -> tuple[bytes, ...]:
    """The classic BPF programs for this machine, all of which must be loaded. Raises IsolationError.

    There are two because an allow-list cannot express exceptions: the second one refuses arguments. is_measured: also
    refuse what holds memory outside of every address space, which isolation/watchdog.py could not measure.
    landlock_abi: for the landlock tier with this ABI, also refuse what namespaces would have made harmless.
    """
    seccomp = _load_seccomp()
    refused = _refuse_arguments(seccomp)
    if is_measured:
        _refuse_unmeasured_memory(seccomp, refused)
    programs = (_compile(_allow_calls(seccomp)), _compile(refused))
    if landlock_abi is None:
        return programs
    return (*programs, *map(_compile, _refuse_without_namespaces(seccomp, landlock_abi)))


@cache
def zygote_filter() -> bytes:
    """The program for the zygote, under which bubblewrap can still build containers. Raises IsolationError."""
    import errno

    seccomp = _load_seccomp()
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    for call in _ZYGOTE_DENIED_CALLS.split():
        _add(rules, seccomp.ERRNO(errno.EPERM), call, required=False)
    return _compile(rules)


def _allow_calls(seccomp: Any) -> Any:
    import errno

    rules = seccomp.SyscallFilter(seccomp.ERRNO(errno.ENOSYS))
    lines = _ALLOWED_CALLS.read_text(encoding="utf-8").splitlines()
    for call in " ".join(line for line in lines if not line.startswith("#")).split():
        _add(rules, seccomp.ALLOW, call)
    for value in (0, _QUERY_PERSONALITY):
        _add(rules, seccomp.ALLOW, "personality", seccomp.Arg(0, seccomp.EQ, value))
    _add(rules, seccomp.ALLOW, "socketpair", seccomp.Arg(0, seccomp.EQ, socket.AF_UNIX))
    _add(rules, seccomp.ALLOW, "socket", seccomp.Arg(0, seccomp.EQ, socket.AF_UNIX))
    for family in (socket.AF_INET, socket.AF_INET6):
        for kind, protocol in _INTERNET:
            _add(
                rules,
                seccomp.ALLOW,
                "socket",
                seccomp.Arg(0, seccomp.EQ, family),
                seccomp.Arg(1, seccomp.MASKED_EQ, _TYPE, kind),
                seccomp.Arg(2, seccomp.EQ, protocol),
            )
    route = seccomp.Arg(2, seccomp.EQ, _NETLINK_ROUTE)
    _add(rules, seccomp.ALLOW, "socket", seccomp.Arg(0, seccomp.EQ, socket.AF_NETLINK), route)
    return rules


def _refuse_arguments(seccomp: Any) -> Any:
    """Refuse by the low 32 bits alone, because Linux ignores the others (CVE-2019-10063)."""
    import errno

    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    refused = seccomp.ERRNO(errno.EPERM)
    for flag in _REFUSED_CLONE_FLAGS:
        _add(rules, refused, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, flag, flag))
    for request in _REFUSED_IOCTLS:
        _add(rules, refused, "ioctl", seccomp.Arg(1, seccomp.MASKED_EQ, _LOW_32_BITS, request))
    for command in _REFUSED_FCNTLS.values():
        _add(rules, refused, "fcntl", seccomp.Arg(1, seccomp.MASKED_EQ, _LOW_32_BITS, command))
    for call in ("preadv2", "pwritev2"):
        _add(rules, refused, call, seccomp.Arg(5, seccomp.MASKED_EQ, _RWF_NOWAIT, _RWF_NOWAIT))
    return rules


def _refuse_unmeasured_memory(seccomp: Any, rules: Any) -> None:
    """Refuse what keeps pages that no process maps: vmsplice into a pipe, shared segments, partly unmapped memfds."""
    import errno

    for call in _UNMEASURED_CALLS:
        _add(rules, seccomp.ERRNO(errno.ENOSYS), call)
    refused = seccomp.ERRNO(errno.EPERM)
    for option in _UNMEASURED_OPTIONS:
        level = seccomp.Arg(1, seccomp.MASKED_EQ, _LOW_32_BITS, socket.SOL_SOCKET)
        _add(rules, refused, "setsockopt", level, seccomp.Arg(2, seccomp.MASKED_EQ, _LOW_32_BITS, option))
    for kind in (mmap.MAP_SHARED, _MAP_SHARED_VALIDATE):
        shared = kind | mmap.MAP_ANONYMOUS
        _add(
            rules, refused, "mmap", seccomp.Arg(3, seccomp.MASKED_EQ, _MAP_TYPE | mmap.MAP_ANONYMOUS, shared)
        )


def _refuse_without_namespaces(seccomp: Any, abi: int) -> tuple[Any, Any]:
    """Refuse what reaches other processes and files of this user where neither namespaces nor Landlock prevent it.

    No socket but a pair of connected ones can be made, and none can be connected: not to the network, and not to the
    sockets of other programs in the file system. A pair of SOCK_DGRAM could send to any address. No descriptor can be
    sent (sendmsg): the watchdog could not find a removed file that is on its way. A process is named only as 0, which
    is the caller. What changes the attributes of a file is refused or does nothing, because Landlock
    does not look at it (Documentation/userspace-api/landlock.rst, "Current limitations").
    Two programs: libseccomp refuses a rule with and another without arguments for one call.
    """
    import errno

    rules, others = (seccomp.SyscallFilter(seccomp.ALLOW) for _ in range(2))
    refused, ignored = seccomp.ERRNO(errno.EPERM), seccomp.ERRNO(0)
    for call in _NAMESPACED_CALLS.split():
        _add(rules, refused, call, required=False)
    for call in _ATTRIBUTE_CALLS.split():
        _add(rules, ignored, call, required=False)
    _add(rules, refused, "socket")
    for kind in range(_TYPE + 1):
        if kind not in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
            _add(rules, refused, "socketpair", seccomp.Arg(1, seccomp.MASKED_EQ, _TYPE, kind))
    for policy in range(_SCHEDULERS):  # libzmq asks for the usual one, for each of its threads
        action = ignored if policy == os.SCHED_OTHER else refused
        _add(rules, action, "sched_setscheduler", seccomp.Arg(1, seccomp.MASKED_EQ, _SCHEDULERS - 1, policy))
    for call, place in _OTHERS_BY_ARGUMENT:
        _add(rules, refused, call, seccomp.Arg(place, seccomp.NE, 0))
    _add(rules, refused, "setpriority", seccomp.Arg(0, seccomp.NE, 0))  # PRIO_PROCESS
    _add(others, refused, "setpriority", seccomp.Arg(1, seccomp.NE, 0))
    _add(rules, refused, "ioprio_set", seccomp.Arg(0, seccomp.NE, _IOPRIO_WHO_PROCESS))
    _add(others, refused, "ioprio_set", seccomp.Arg(1, seccomp.NE, 0))
    for command in _SIGNAL_FCNTLS.values():
        _add(rules, refused, "fcntl", seccomp.Arg(1, seccomp.MASKED_EQ, _LOW_32_BITS, command))
    for request in _SIGNAL_IOCTLS:
        _add(rules, refused, "ioctl", seccomp.Arg(1, seccomp.MASKED_EQ, _LOW_32_BITS, request))
    _add(rules, refused, "prctl", seccomp.Arg(0, seccomp.MASKED_EQ, _LOW_32_BITS, _PR_SET_DUMPABLE))
    if abi < _ABI_SCOPE:
        _refuse_signals(seccomp, others)
    if abi < _ABI_TRUNCATE:
        _refuse_truncation(seccomp, others)
    return rules, others


def _refuse_signals(seccomp: Any, rules: Any) -> None:
    """Signals go to the caller alone: the guest replaces OWN_PID in the program (guest/confinement.py)."""
    import errno

    refused = seccomp.ERRNO(errno.EPERM)
    for call in ("tkill", "pidfd_send_signal"):
        _add(rules, refused, call)
    for call in ("tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "kill"):
        _add(rules, refused, call, seccomp.Arg(0, seccomp.NE, OWN_PID))


def _refuse_truncation(seccomp: Any, rules: Any) -> None:
    """Before ABI 3 Landlock lets a file be emptied that can only be read."""
    import errno

    refused = seccomp.ERRNO(errno.EPERM)
    _add(rules, refused, "truncate")
    _add(rules, seccomp.ERRNO(errno.ENOSYS), "openat2")  # its flags are in memory
    for call, place in (("open", 1), ("openat", 2)):
        flags = os.O_ACCMODE | os.O_TRUNC
        _add(rules, refused, call, seccomp.Arg(place, seccomp.MASKED_EQ, flags, os.O_TRUNC), required=False)


def _add(rules: Any, action: int, call: str, *arguments: Any, required: bool = True) -> None:
    """Add a rule. An allowed call that this libseccomp or architecture does not know is skipped: it stays refused.

    A refused call must be known, unless `required` is false.
    """
    try:
        rules.add_rule(action, call, *arguments)
    except (ValueError, OSError) as error:
        if action == _ALLOW or not required:
            return
        raise IsolationError(f"no isolation: the filter cannot refuse {call} ({error})") from error


def _compile(rules: Any) -> bytes:
    file = os.memfd_create("filter")
    with os.fdopen(file, "w+b") as program:
        rules.export_bpf(program)
        program.seek(0)
        return program.read()


def _load_seccomp() -> Any:
    try:
        import pyseccomp
    except (ImportError, RuntimeError) as error:
        raise IsolationError(
            f"no isolation: the system call filter cannot be created ({error}); "
            "install it: apt install libseccomp2, pip install pyseccomp"
        ) from error
    return pyseccomp
