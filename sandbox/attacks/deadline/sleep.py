"""Sleep for an hour.

layer: deadline
plain: skipped, it needs a deadline
session: own
proof: deadline
timeout: 0.5
"""

import time

time.sleep(3600)
