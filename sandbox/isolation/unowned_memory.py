"""Memory that belongs to no process of a session: the files of its tmpfs, and what its sockets may hold."""

from __future__ import annotations

import contextlib
import os
from functools import cache
from pathlib import Path

_TMPFS = ("tmp", "dev/shm")
_INODE_BYTES = 1024  # of a file in a tmpfs, even if it is empty
_TRUESIZE = 1024  # what Linux may allocate for one byte queued in a TCP socket


def tmpfs_bytes(root: str) -> int:
    """The contents of the tmpfs of the container with this root directory."""
    used = 0
    for name in _TMPFS:
        with contextlib.suppress(OSError):
            status = os.statvfs(f"{root}/{name}")
            used += (status.f_blocks - status.f_bfree) * status.f_frsize
            used += (status.f_files - status.f_ffree) * _INODE_BYTES
    return used


def socket_bytes(net: str) -> int:
    """What the sockets of a container may hold: twice the default buffer size, and more for TCP, which grows."""
    counts = _socket_counts(net)
    if not counts:
        return 0
    total = counts.get("sockets", 0) * 2 * buffer_default()
    for table, kind in (("tcp", "TCP"), ("tcp6", "TCP6")):
        if counts.get(kind):
            total += _tcp_bytes(f"{net}/{table}")
    return total


def _socket_counts(net: str) -> dict[str, int]:
    """The number of sockets of each kind, from lines such as `TCP: inuse 3 …`; of all kinds under `sockets`."""
    counts = {}
    for name in ("sockstat", "sockstat6"):
        with contextlib.suppress(OSError):
            for line in read(f"{net}/{name}").splitlines():
                kind, _, rest = line.partition(":")
                counts[kind] = int(rest.split()[1])
    return counts


def _tcp_bytes(table: str) -> int:
    total, (sent, received) = 0, _tcp_limits()
    with contextlib.suppress(OSError):
        for line in Path(table).read_text().splitlines()[1:]:
            waiting, _, unread = line.split()[4].partition(":")
            total += min(int(waiting, 16) * _TRUESIZE, sent) + min(int(unread, 16) * _TRUESIZE, received)
    return total


@cache
def buffer_default() -> int:
    """How many bytes a socket may hold by default."""
    return max(_sysctl("core/wmem_default", 212_992), _sysctl("core/rmem_default", 212_992))


@cache
def _tcp_limits() -> tuple[int, int]:
    return _sysctl("ipv4/tcp_wmem", 4 * 2**20), _sysctl("ipv4/tcp_rmem", 6 * 2**20)


def _sysctl(name: str, default: int) -> int:
    """Its last number, which is the maximum; the default if it cannot be read."""
    try:
        return int(Path("/proc/sys/net", name).read_text().split()[-1])
    except OSError:
        return default


def read(path: str) -> str:
    """The text of a small file of /proc, of which Linux returns a page at a time. Raises OSError."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return b"".join(iter(lambda: os.read(file, 65_536), b"")).decode()
    finally:
        os.close(file)
