"""Take most of the places for asynchronous reads and writes that this whole machine has.

layer: calls
plain: depends, on how Linux was built and on what else runs
"""

import ctypes
import platform

setup, destroy = {"x86_64": (206, 207), "aarch64": (0, 1)}[platform.machine()]
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.argtypes = (ctypes.c_long, ctypes.c_ulong, ctypes.c_void_p)
most = int(open("/proc/sys/fs/aio-max-nr").read())
held = []
for _ in range(11):
    context = ctypes.c_ulong()
    if libc.syscall(setup, most // 20, ctypes.byref(context)) != 0:
        break
    held.append(context)
for context in held:
    libc.syscall(destroy, context.value, None)
if len(held) >= 10:
    print(MARKER)
