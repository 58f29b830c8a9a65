"""The filter of system calls, seen from inside a container: what is refused, and that libraries do not miss it."""

from __future__ import annotations

import ctypes
import errno
from types import SimpleNamespace
from typing import Any

import pyseccomp
import pytest

from sandbox import Session
from sandbox.guest import confinement, landlock
from sandbox.isolation import seccomp, watchdog
from sandbox.isolation.landlock import _SYS_LANDLOCK_CREATE_RULESET
from sandbox.isolation.seccomp import filter_programs

_REFUSED = [
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "kcmp",
    "pidfd_getfd",
    "keyctl",
    "add_key",
    "request_key",
    "bpf",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "userfaultfd",
    "perf_event_open",
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "setns",
    "unshare",
    "clone3",
    "open_by_handle_at",
    "name_to_handle_at",
    "init_module",
    "finit_module",
    "delete_module",
    "kexec_load",
    "reboot",
    "swapon",
    "swapoff",
    "sethostname",
    "setdomainname",
    "syslog",
    "acct",
    "quotactl",
    "settimeofday",
    "clock_settime",
    "adjtimex",
    "clock_adjtime",
    "vhangup",
    "fanotify_init",
    "mq_open",
    "lookup_dcookie",
    "move_pages",
    "migrate_pages",
    "memfd_secret",
    "nfsservctl",
]
_CALL = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nctypes.set_errno(0)\n"


def result_of(session: Session, call: str, *arguments: int) -> tuple[int, int]:
    """What a system call returns in a container, and errno."""
    number = pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, call)
    words = ", ".join(f"ctypes.c_long({value})" for value in (number, *arguments))
    text = session.run(f"{_CALL}print(libc.syscall({words}), ctypes.get_errno())").text
    returned, code = text.split()
    return int(returned), int(code)


@pytest.mark.parametrize("call", _REFUSED)
def test_a_call_that_is_not_needed_does_not_exist(session: Session, call: str) -> None:
    if pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, call) < 0:
        pytest.skip("this architecture does not have it")
    assert result_of(session, call, -1, 0, 0, 0, 0, 0) == (-1, errno.ENOSYS)


@pytest.mark.parametrize(
    "flag", [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]
)
def test_a_clone_into_a_new_namespace_is_refused(session: Session, flag: int) -> None:
    assert result_of(session, "clone", flag | 17, 0, 0, 0, 0) == (-1, errno.EPERM)


@pytest.mark.parametrize("request_number", [0x5412, 0x541C, 0x1_0000_5412, 0x7FFF_0000_0000_541C])
def test_typing_into_a_terminal_is_refused_whatever_the_high_bits(
    session: Session, request_number: int
) -> None:
    assert result_of(session, "ioctl", 0, request_number, 0) == (-1, errno.EPERM)


def test_other_requests_to_a_device_go_through(session: Session) -> None:
    assert result_of(session, "ioctl", 0, 0x5401, 0)[1] in (errno.ENOTTY, errno.EFAULT)


@pytest.mark.parametrize("family", [3, 4, 5, 9, 17, 29, 31, 38, 40, 44, 45])
def test_sockets_of_unusual_families_cannot_be_made(session: Session, family: int) -> None:
    for kind in (1, 2, 3):
        assert result_of(session, "socket", family, kind, 0) == (-1, errno.ENOSYS)


def test_raw_sockets_cannot_be_made(session: Session) -> None:
    assert result_of(session, "socket", 2, 3, 1) == (-1, errno.ENOSYS)
    assert result_of(session, "socket", 16, 3, 9) == (-1, errno.ENOSYS)  # netlink: audit


def test_calls_of_another_architecture_end_the_process(session: Session) -> None:
    x32 = 0x4000_0000 + 39  # getpid
    code = (
        "import os, ctypes\npid = os.fork()\nif pid == 0:\n"
        f"    ctypes.CDLL(None).syscall({x32})\n    os._exit(7)\n"
        "print(os.WIFSIGNALED(os.waitpid(pid, 0)[1]))"
    )
    if pyseccomp.system_arch() != pyseccomp.Arch.X86_64:
        pytest.skip("only x86_64 has them")
    assert session.run(code).text == "True\n"


def test_the_filter_covers_started_programs_too(session: Session) -> None:
    code = (
        "import subprocess\nprint(subprocess.run(['unshare', '-U', 'true'], capture_output=True).returncode)"
    )
    assert session.run(code).text == "1\n"


def test_every_process_of_a_container_is_filtered(session: Session) -> None:
    code = (
        "import glob\n"
        "modes = {line for path in glob.glob('/proc/[0-9]*/status') for line in open(path) if 'Seccomp:' in line}\n"
        "print(sorted(modes))"
    )
    assert session.run(code).text == "['Seccomp:\\t2\\n']\n"


@pytest.mark.parametrize(
    "code",
    [
        "import numpy as np; print((np.ones((600, 600)) @ np.ones((600, 600))).sum() > 0)",
        "fig, ax = plt.subplots(); ax.plot([1, 2]); fig.savefig('/tmp/x.png'); print(True)",
        "import subprocess; print(subprocess.run(['sh', '-c', 'exit 3']).returncode == 3)",
        "from multiprocessing import Pool\nwith Pool(2) as pool: print(pool.map(abs, [-1, 2]) == [1, 2])",
        "from multiprocessing.pool import ThreadPool\nwith ThreadPool(4) as pool: print(pool.map(abs, [-1]) == [1])",
        "import asyncio\nasync def one(): return await asyncio.sleep(0, True)\nprint(await one())",
        "import zmq; c = zmq.Context(); c.socket(zmq.REP).bind('ipc:///tmp/s'); c.destroy(); print(True)",
        "import socket; a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1) == b'x')",
        "import socket; s = socket.create_server(('127.0.0.1', 0)); s.close(); print(True)",
        "import sqlite3; print(sqlite3.connect('/tmp/x.db').execute('select 1').fetchone() == (1,))",
        "import tempfile; print(bool(tempfile.TemporaryFile().fileno()))",
        "import mmap as m; print(len(m.mmap(-1, 4096, flags=m.MAP_PRIVATE | m.MAP_ANONYMOUS)) == 4096)",
        "from multiprocessing.shared_memory import SharedMemory as S; S(create=True, size=9).unlink(); print(True)",
        "import os, signal; print(os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)[1] == 0)",
    ],
)
def test_what_libraries_need_works(session: Session, code: str) -> None:
    result = session.run(code)
    assert (result.status, result.text) == ("ok", "True\n"), result


def test_there_are_two_programs_of_whole_instructions() -> None:
    assert [len(program) % 8 for program in filter_programs()] == [0, 0]


_ARCHITECTURES = {"x86_64": pyseccomp.Arch.X86_64, "aarch64": pyseccomp.Arch.AARCH64}


@pytest.mark.parametrize("architecture", _ARCHITECTURES)
def test_the_calls_made_by_number_are_those_of_the_architecture(architecture: str) -> None:
    def number(call: str) -> int:
        return int(pyseccomp.resolve_syscall(_ARCHITECTURES[architecture], call))

    assert watchdog._KCMP[architecture] == number("kcmp")
    assert number("landlock_create_ruleset") == landlock._SYS_LANDLOCK_CREATE_RULESET
    assert number("landlock_add_rule") == landlock._SYS_LANDLOCK_ADD_RULE
    assert number("landlock_restrict_self") == landlock._SYS_LANDLOCK_RESTRICT_SELF
    assert number("landlock_create_ruleset") == _SYS_LANDLOCK_CREATE_RULESET


def test_the_structures_of_linux_have_their_sizes() -> None:
    """They are the same on every 64-bit architecture: linux/landlock.h, linux/filter.h."""
    assert ctypes.sizeof(landlock._Ruleset) == 24
    assert ctypes.sizeof(landlock._PathBeneath) == 12
    assert ctypes.sizeof(confinement._Program) == 16


@pytest.mark.parametrize("architecture", _ARCHITECTURES)
@pytest.mark.parametrize("abi", [1, 3, 6])
def test_every_refusal_of_the_landlock_tier_can_be_compiled(architecture: str, abi: int) -> None:
    """For another architecture a call that it does not have would otherwise raise only there."""

    def build_filter(action: int) -> Any:
        rules = pyseccomp.SyscallFilter(action)
        if _ARCHITECTURES[architecture] != pyseccomp.system_arch():
            rules.add_arch(_ARCHITECTURES[architecture])
            rules.remove_arch(pyseccomp.Arch.NATIVE)
        return rules

    library = SimpleNamespace(
        SyscallFilter=build_filter,
        ALLOW=pyseccomp.ALLOW,
        ERRNO=pyseccomp.ERRNO,
        Arg=pyseccomp.Arg,
        EQ=pyseccomp.EQ,
        NE=pyseccomp.NE,
        MASKED_EQ=pyseccomp.MASKED_EQ,
    )
    programs = (seccomp._allow_calls(library), seccomp._refuse_arguments(library))
    for rules in (*programs, *seccomp._refuse_without_namespaces(library, abi)):
        assert len(seccomp._compile(rules)) % 8 == 0
