"""Change the limits of a process of the host.

layer: processes
plain: succeeds
proof: host
"""

import resource

resource.prlimit(TARGET["victim_pid"], resource.RLIMIT_NOFILE, (77, 77))
