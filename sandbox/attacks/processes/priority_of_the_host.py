"""Slow a process of the host down.

layer: processes
plain: succeeds
proof: host
"""

import os

os.setpriority(os.PRIO_PROCESS, TARGET["victim_pid"], 15)
