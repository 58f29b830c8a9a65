"""Write to the program of process 1, which is the host's (CVE-2019-5736).

layer: mounts
plain: skipped, process 1 of the machine is not to be touched
"""

import os
import time

for _ in range(20):
    try:
        os.close(os.open("/proc/1/exe", os.O_WRONLY))
    except OSError as refused:
        if refused.errno not in (26, 30, 13):
            raise
        time.sleep(0.005)
        continue
    print(MARKER)
    break
