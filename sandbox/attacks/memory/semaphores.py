"""Find the semaphores and queues of the host.

layer: room
plain: depends, on whether the host has any
"""

for name in ("sem", "msg", "shm"):
    if len(open(f"/proc/sysvipc/{name}").read().splitlines()) > 1:
        print(MARKER)
        break
