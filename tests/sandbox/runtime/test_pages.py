"""Memory on large pages, where Linux has them; the same memory in any case."""

from __future__ import annotations

import subprocess
import sys

from sandbox.isolation.bubblewrap import GUEST

_CODE = f"""
import ctypes, importlib.util, mmap, re, sys
from pathlib import Path
spec = importlib.util.spec_from_file_location("pages", {str(GUEST / "pages.py")!r})
pages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pages)
def large():
    return int(re.search(r"AnonHugePages: +(\\d+)", Path("/proc/self/smaps_rollup").read_text())[1])

values = [str(number) for number in range(300_000)]
data = bytearray(b"x" * 2**20)
before = large()
pages.enlarge()
probe = mmap.mmap(-1, 2**23, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
probe.write(b"x" * 2**23)
start = -(-ctypes.addressof(ctypes.c_char.from_buffer(probe)) // 2**21) * 2**21
can = ctypes.CDLL(None).madvise(ctypes.c_void_p(start), ctypes.c_size_t(2**22), 25) == 0
assert large() > before + 4096 if can else large() >= before  # kB; the probe itself has 4096
assert values == [str(number) for number in range(300_000)]
assert data == b"x" * 2**20
"""


def test_nothing_is_lost_on_the_way_to_large_pages() -> None:
    done = subprocess.run([sys.executable, "-c", _CODE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
