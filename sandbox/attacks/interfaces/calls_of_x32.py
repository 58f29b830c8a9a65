"""Make system calls by the numbers of x32, which some filters do not know.

layer: calls
plain: depends, on how Linux was built
"""

import ctypes
import os

assert os.uname().machine == "x86_64", "there are none"
libc = ctypes.CDLL(None, use_errno=True)
child = os.fork()
if child == 0:
    os._exit(7 if libc.syscall(0x40000000 | 39) == os.getpid() else 1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    print(MARKER)
