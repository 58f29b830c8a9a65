"""Set the clock of the machine.

layer: calls
plain: skipped, it would change the time of the machine by a moment
"""

import time

time.clock_settime(time.CLOCK_REALTIME, time.time())
print(MARKER)
