"""Write one file of 600 MiB.

layer: limits
plain: skipped, it would write 600 MiB
session: own
"""

import signal

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with open("/tmp/large", "wb", buffering=0) as file:
    for _ in range(150):
        if file.write(b"x" * (4 * 2**20)) < 4 * 2**20:
            break
    else:
        print(MARKER)
