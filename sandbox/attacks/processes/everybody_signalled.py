"""Send a signal to every process of the machine.

layer: processes
plain: skipped, it would wake every stopped process of the machine
proof: host
"""

import os
import signal

os.kill(-1, signal.SIGCONT)
