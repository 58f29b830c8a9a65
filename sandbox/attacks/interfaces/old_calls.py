"""Make calls that nobody needs any more: nfsservctl, uselib, ustat, sysfs, _sysctl, modify_ldt, iopl.

layer: calls
plain: depends, on how Linux was built and the processor
"""

import ctypes
import platform

libc = ctypes.CDLL(None, use_errno=True)
numbers = {"x86_64": (180, 134, 136, 139, 156, 154, 172), "aarch64": (42,)}[platform.machine()]
for number in numbers:
    ctypes.set_errno(0)
    libc.syscall(number, 0, 0, 0)
    if ctypes.get_errno() not in (1, 38):
        print(MARKER)
        break
