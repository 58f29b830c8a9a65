"""Find out whether the host runs.

layer: processes
plain: succeeds
"""

import os

os.kill(TARGET["victim_pid"], 0)
if open(f"/proc/{TARGET['victim_pid']}/comm").read() == "sleep\n":
    print(MARKER)
