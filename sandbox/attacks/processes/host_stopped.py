"""Stop a process of the host.

layer: processes
plain: succeeds
proof: host
"""

import os
import signal

os.kill(TARGET["victim_pid"], signal.SIGSTOP)
