"""The filter of system calls, seen from inside a container: what is refused, and that libraries do not miss it."""

from __future__ import annotations

import errno

import pyseccomp
import pytest

from sandbox import Session
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


def test_the_filter_covers_forks_and_started_programs_too(session: Session) -> None:
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
