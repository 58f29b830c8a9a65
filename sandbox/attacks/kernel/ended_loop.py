"""End the loop of the kernel, and hang in a handler at its exit, for as long as anybody waits.

layer: deadline
plain: skipped, it ends the kernel
session: own
proof: neighbour
after: pass
timeout: 1
"""

import asyncio
import atexit
import time

atexit.register(time.sleep, 20)
loop = asyncio.get_event_loop()
loop.call_soon(loop.stop)
