"""Take a large part of the pseudo-terminals that this whole machine has.

layer: limits
plain: depends, on how the machine is set up
session: own
"""

import os
import resource
import signal

most = int(open("/proc/sys/kernel/pty/max").read())
wanted = min(most // 2, 2048)  # this much of it, whoever asks
limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
each = min(limit - 100, 700)
told, tell = os.pipe()
children, held = [], 0
for _ in range(wanted // each + 1):
    child = os.fork()
    if child == 0:
        count = 0
        try:
            while count < each:
                os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
                count += 1
        finally:
            os.write(tell, count.to_bytes(4, "little"))
            signal.alarm(20)
            signal.pause()
            os._exit(0)
    children.append(child)
    held += int.from_bytes(os.read(told, 4), "little")
for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
if held >= wanted:
    print(MARKER)
