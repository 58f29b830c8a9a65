"""Large pages for what a zygote holds: a fork copies one entry for each, and its end frees one, instead of 512.

A page of the usual size is still what is copied when a fork writes to it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path

_LARGE = 2**21  # bytes
_COLLAPSE = 25  # MADV_COLLAPSE of linux/mman.h, from Linux 6.1 on
_OWN = ("", "[heap]")  # memory with another name has a file behind it


def enlarge() -> None:
    """Move the memory of this process to large pages, as far as Linux has them and can."""
    libc = ctypes.CDLL(None)
    for start, end in _writable():
        libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _COLLAPSE)


def _writable() -> Iterator[tuple[int, int]]:
    """The whole large pages in each piece of memory that belongs to no file: addresses of the first byte and behind."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, rights, _, _, _, *name = line.split(maxsplit=5)
        first, behind = (int(address, 16) for address in addresses.split("-"))
        start, end = -(-first // _LARGE) * _LARGE, behind // _LARGE * _LARGE
        if rights.startswith("rw") and "".join(name) in _OWN and start < end:
            yield start, end
