"""Memory on large pages, where Linux has them; the same memory in any case."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[3]
_CODE = """
import ctypes, mmap, re
from pathlib import Path
from sandbox.guest.zygote import use_large_pages
def large():
    return int(re.search(r"AnonHugePages: +(\\d+)", Path("/proc/self/smaps_rollup").read_text())[1])

values = [str(number) for number in range(300_000)]
data = bytearray(b"x" * 2**20)
before = large()
use_large_pages()
probe = mmap.mmap(-1, 2**23, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
probe.write(b"x" * 2**23)
start = -(-ctypes.addressof(ctypes.c_char.from_buffer(probe)) // 2**21) * 2**21
can = ctypes.CDLL(None).madvise(ctypes.c_void_p(start), ctypes.c_size_t(2**22), 25) == 0
assert large() > before + 4096 if can else large() >= before  # kB; the probe itself has 4096
assert values == [str(number) for number in range(300_000)]
assert data == b"x" * 2**20
"""


def test_nothing_is_lost_on_the_way_to_large_pages() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _CODE], capture_output=True, text=True, cwd=_ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
