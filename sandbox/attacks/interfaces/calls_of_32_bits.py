"""Make the system calls of 32-bit programs, which have other numbers.

layer: calls
plain: depends, on the processor and how Linux was built
"""

import ctypes
import mmap
import os

assert os.uname().machine == "x86_64", "there are none"
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes.fromhex("b814000000 cd80 c3"))  # getpid by int 0x80
call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
child = os.fork()
if child == 0:
    os._exit(7 if call() == os.getpid() else 1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    print(MARKER)
