"""Stop its own process.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

import os
import signal

os.kill(os.getpid(), signal.SIGSTOP)
