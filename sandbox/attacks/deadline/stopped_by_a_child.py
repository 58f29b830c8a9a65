"""Have a child stop the kernel again and again.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

import os
import signal
import time

parent = os.getpid()
if os.fork() == 0:
    end = time.monotonic() + 8
    while time.monotonic() < end:
        os.kill(parent, signal.SIGSTOP)
        time.sleep(0.01)
    os._exit(0)
while True:
    pass
