"""End a process of the host.

layer: processes
plain: succeeds
proof: host
"""

import os

os.kill(TARGET["victim_pid"], 9)
