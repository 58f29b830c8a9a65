"""End a process of the host by a descriptor of the process.

layer: processes
plain: succeeds
proof: host
"""

import os
import signal

signal.pidfd_send_signal(os.pidfd_open(TARGET["victim_pid"]), 9)
