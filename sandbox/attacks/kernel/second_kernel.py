"""Fork, and let the child go on as a second kernel at the same sockets.

layer: messages
plain: skipped, it spoils the kernel
session: own
after: print("own words")
expect: own words
timeout: 3
"""

import os
import signal

if os.fork() == 0:
    signal.alarm(10)
