"""Arm so many timers that the others of this user get none.

layer: limits
plain: depends, on the limit of whoever runs it
session: own
"""

import ctypes

libc = ctypes.CDLL("librt.so.1", use_errno=True)
held = []
while len(held) < 3_000:
    timer = ctypes.c_void_p()
    if libc.timer_create(1, None, ctypes.byref(timer)) != 0:
        break
    held.append(timer)
for timer in held:
    libc.timer_delete(timer)
if len(held) == 3_000:
    print(MARKER)
