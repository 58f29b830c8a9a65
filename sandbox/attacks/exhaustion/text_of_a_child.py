"""Have a child write without end.

layer: output
plain: skipped, it would fill the memory of its reader
session: own
proof: neighbour
timeout: 3
"""

import subprocess

subprocess.run(["timeout", "10", "yes", "x" * 200], check=False)
