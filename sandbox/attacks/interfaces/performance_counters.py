"""Count the events of the processor, which tell secrets of other processes.

layer: calls
plain: depends, on a setting of the machine
"""

import ctypes
import os
import platform
import struct

libc, software, clock = ctypes.CDLL(None, use_errno=True), 1, 0
number = {"x86_64": 298, "aarch64": 241}[platform.machine()]
asked = ctypes.create_string_buffer(struct.pack("IIQ", software, 112, clock), 112)
descriptor = libc.syscall(number, asked, 0, -1, -1, 0)
if descriptor >= 0:
    os.close(descriptor)
    print(MARKER)
