"""Block every signal and loop.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

import signal

signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
while True:
    pass
