"""End a process of the host by its process group.

layer: processes
plain: succeeds
proof: host
"""

import os

os.killpg(TARGET["victim_pid"], 9)
