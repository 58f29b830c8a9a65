"""Take 3 GiB of memory by six children, each below the limit of one process.

layer: groups
plain: skipped, it would take 3 GiB of this machine
session: own
proof: neighbour
"""

import os
import time

ready, tell = os.pipe()
children = []
for _ in range(6):
    pid = os.fork()
    if pid == 0:
        data = bytearray(512 * 2**20)
        data[::4096] = b"x" * len(data[::4096])
        os.write(tell, b"x")
        time.sleep(4)
        os._exit(0)
    children.append(pid)
os.close(tell)
os.set_blocking(ready, False)
end, held = time.monotonic() + 3, b""
while time.monotonic() < end and len(held) < 6:
    try:
        held += os.read(ready, 6)
    except BlockingIOError:
        pass
    time.sleep(0.05)
if len(held) == 6:
    print(MARKER)
for pid in children:
    try:
        os.kill(pid, 9)
    except OSError:
        pass
    os.waitpid(pid, 0)
