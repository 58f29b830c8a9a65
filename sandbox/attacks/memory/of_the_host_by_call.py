"""Read the memory of a process of the host by a call.

layer: calls
plain: succeeds as root
"""

import ctypes

pid = TARGET["victim_pid"]


class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


libc = ctypes.CDLL(None, use_errno=True)
try:
    with open(f"/proc/{pid}/maps") as maps:
        start = int(maps.readline().split("-")[0], 16)
except OSError:
    start = 0x400000
space = ctypes.create_string_buffer(8)
here, there = Part(ctypes.addressof(space), 8), Part(start, 8)
if libc.process_vm_readv(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) == 8:
    print(MARKER)
