"""Send a signal to processes by trying numbers, far beyond its own.

layer: processes
plain: skipped, it would wake stopped processes of the machine
proof: host
"""

import os
import signal

for pid in range(1, 70_000):
    try:
        os.kill(pid, signal.SIGCONT)
    except OSError:
        continue
