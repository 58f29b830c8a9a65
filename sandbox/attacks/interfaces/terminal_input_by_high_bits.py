"""Type into a terminal by a request whose high bits a filter may compare (CVE-2019-10063).

layer: calls
plain: depends, on a setting of the machine
"""

import ctypes
import os
import platform
import pty

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 16, "aarch64": 29}[platform.machine()]
leader, follower = pty.openpty()
try:
    if libc.syscall(number, follower, ctypes.c_uint64(0x1_0000_5412), b"x") == 0:
        print(MARKER)
finally:
    os.close(leader)
    os.close(follower)
