"""Landlock domains: what a guest may open, and which processes it can reach.

Covered in every tier: a guest can neither trace nor write to the memory of a process outside of its domain
(security/landlock/task.c, hook_ptrace_access_check), such as the one that holds its container open; since ABI 6
(Linux 6.12) it cannot signal it either. In the landlock tier also: files, and TCP since ABI 4.
Not covered: without Landlock, or in containers before ABI 2, there is no domain. A guest in a container can then modify
the process that holds its container open, but gains nothing by it: teardown does not depend on that process, which
would ignore signals anyway, as the first of its PID namespace, and is under the guest's own limits and filter.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
from dataclasses import dataclass
from functools import cache

from .confinement import libc, syscall

# linux/landlock.h, asm-generic/unistd.h
_SYS_LANDLOCK_CREATE_RULESET, _SYS_LANDLOCK_ADD_RULE, _SYS_LANDLOCK_RESTRICT_SELF = 444, 445, 446
LANDLOCK_CREATE_RULESET_VERSION, LANDLOCK_RULE_PATH_BENEATH = 1, 1
LANDLOCK_ACCESS_FS_EXECUTE, LANDLOCK_ACCESS_FS_WRITE_FILE = 1 << 0, 1 << 1
LANDLOCK_ACCESS_FS_READ_FILE, LANDLOCK_ACCESS_FS_READ_DIR = 1 << 2, 1 << 3
LANDLOCK_ACCESS_FS_REMOVE_DIR, LANDLOCK_ACCESS_FS_REMOVE_FILE = 1 << 4, 1 << 5
LANDLOCK_ACCESS_FS_MAKE_DIR, LANDLOCK_ACCESS_FS_MAKE_REG = 1 << 7, 1 << 8
LANDLOCK_ACCESS_FS_MAKE_FIFO, LANDLOCK_ACCESS_FS_MAKE_SYM = 1 << 10, 1 << 12
LANDLOCK_ACCESS_FS_REFER, LANDLOCK_ACCESS_FS_TRUNCATE = 1 << 13, 1 << 14
_ALL_FILES = ((1, 13), (2, 14), (3, 15), (5, 16))  # since this ABI, that many kinds of access
_ALL_TCP = 3  # LANDLOCK_ACCESS_NET_BIND_TCP | LANDLOCK_ACCESS_NET_CONNECT_TCP
LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET, LANDLOCK_SCOPE_SIGNAL = 1, 2
_ABI_REFER, _ABI_TCP, _ABI_SCOPE = 2, 4, 6
_READ = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR
_WRITE = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE
_WORK = (
    _WRITE
    | LANDLOCK_ACCESS_FS_READ_DIR
    | LANDLOCK_ACCESS_FS_REMOVE_DIR
    | LANDLOCK_ACCESS_FS_REMOVE_FILE
    | LANDLOCK_ACCESS_FS_MAKE_DIR
    | LANDLOCK_ACCESS_FS_MAKE_REG
    | LANDLOCK_ACCESS_FS_MAKE_FIFO
    | LANDLOCK_ACCESS_FS_MAKE_SYM
    | LANDLOCK_ACCESS_FS_REFER
)
_OF_A_FILE = _WRITE | LANDLOCK_ACCESS_FS_EXECUTE | 1 << 15  # LANDLOCK_ACCESS_FS_IOCTL_DEV
_OWN_PROC = ("cmdline", "comm", "fd", "limits", "maps", "smaps", "smaps_rollup", "stat", "statm", "status")


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


@dataclass(frozen=True, slots=True)
class Rules:
    """What a domain allows: to read and execute, to read and write, and everything below the working folder."""

    read: tuple[str, ...]
    write: tuple[str, ...]
    work: str


@cache
def landlock_abi() -> int:
    """The Landlock ABI of this Linux; 0 for none."""
    abi: int = libc().syscall(
        _SYS_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), LANDLOCK_CREATE_RULESET_VERSION
    )
    return max(abi, 0)


def enter_process_domain() -> None:
    """Enter a domain that forbids only what every domain forbids: tracing or signalling processes outside of it.

    A ruleset must handle some access. Before ABI 6 that is LANDLOCK_ACCESS_FS_REFER, which is then allowed everywhere.
    """
    abi = landlock_abi()
    if abi < _ABI_REFER:
        return
    if abi >= _ABI_SCOPE:
        _restrict(_create(_Ruleset(0, 0, _scopes(abi)), abi))
        return
    ruleset = _create(_Ruleset(LANDLOCK_ACCESS_FS_REFER, 0, 0), abi)
    _allow(ruleset, "/", LANDLOCK_ACCESS_FS_REFER, LANDLOCK_ACCESS_FS_REFER)
    _restrict(ruleset)


def enter_file_domain(rules: Rules, abi: int) -> None:
    """Enter a domain that also limits files and TCP to these rules, as far as this ABI can. Raises OSError."""
    handled = (1 << max(kinds for since, kinds in _ALL_FILES if since <= abi)) - 1
    ruleset = _create(_Ruleset(handled, _ALL_TCP if abi >= _ABI_TCP else 0, _scopes(abi)), abi)
    for path in (*rules.read, *(f"/proc/self/{name}" for name in _OWN_PROC)):
        _allow(ruleset, path, _READ, handled)
    for path in rules.write:
        _allow(ruleset, path, _WRITE, handled)
    _allow(ruleset, rules.work, _WORK, handled)
    _restrict(ruleset)


def _scopes(abi: int) -> int:
    return LANDLOCK_SCOPE_SIGNAL | LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET if abi >= _ABI_SCOPE else 0


def _create(attribute: _Ruleset, abi: int) -> int:
    size = 24 if abi >= _ABI_SCOPE else 16 if abi >= _ABI_TCP else 8  # older versions know fewer fields
    return syscall(_SYS_LANDLOCK_CREATE_RULESET, ctypes.byref(attribute), ctypes.c_size_t(size), 0)


def _allow(ruleset: int, path: str, access: int, handled: int) -> None:
    """Allow it below this path, unless there is nothing at that path."""
    with contextlib.suppress(FileNotFoundError):
        target = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            is_folder = stat.S_ISDIR(os.fstat(target).st_mode)
            rule = _PathBeneath(access & handled & (-1 if is_folder else _OF_A_FILE), target)
            syscall(_SYS_LANDLOCK_ADD_RULE, ruleset, LANDLOCK_RULE_PATH_BENEATH, ctypes.byref(rule), 0)
        finally:
            os.close(target)


def _restrict(ruleset: int) -> None:
    syscall(_SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
