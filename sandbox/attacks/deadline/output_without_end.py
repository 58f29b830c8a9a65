"""Print for ever, and ignore the interrupt.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)
while True:
    print("x" * 1000)
