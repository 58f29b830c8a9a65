"""Hang in a handler at the end of the process.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 3
"""

import atexit
import sys
import time

atexit.register(time.sleep, 3600)
sys.exit(0)
