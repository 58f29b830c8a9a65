"""Bind a process of the host to one processor.

layer: processes
plain: depends, on whether there are two
proof: host
"""

import os

os.sched_setaffinity(TARGET["victim_pid"], {min(os.sched_getaffinity(0))})
