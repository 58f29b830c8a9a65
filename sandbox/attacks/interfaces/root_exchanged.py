"""Exchange the root of the file system for another one.

layer: calls
plain: succeeds as root
"""

import ctypes
import os
import platform
import tempfile

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 155, "aarch64": 41}[platform.machine()]
own_mounts, all_private = 0x20000, 0x44000
child = os.fork()
if child == 0:
    exchanged = False
    try:
        has_own = libc.unshare(own_mounts) == 0  # else root would change the machine
        if has_own:
            libc.mount(None, b"/", None, all_private, None)
            os.chdir(tempfile.mkdtemp())
            libc.mount(b"none", os.getcwdb(), b"tmpfs", 0, None)
            os.chdir(os.getcwd())
        else:
            os.chdir("/tmp")
        exchanged = (has_own or os.geteuid() != 0) and libc.syscall(number, b".", b".") == 0
    finally:
        os._exit(7 if exchanged else 1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    print(MARKER)
