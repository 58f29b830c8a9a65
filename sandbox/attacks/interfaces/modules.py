"""Load a module into Linux.

layer: calls
plain: skipped, Linux refuses these arguments even to root
"""

import ctypes
import platform

libc = ctypes.CDLL(None, use_errno=True)
init, init_by_file = {"x86_64": (175, 313), "aarch64": (105, 273)}[platform.machine()]
for number, arguments in ((init, (b"", 0, b"")), (init_by_file, (-1, b"", 0))):
    libc.syscall(number, *arguments)
    if ctypes.get_errno() not in (1, 38):  # it was let in, and looked at what it was given
        print(MARKER)
        break
