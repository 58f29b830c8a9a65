"""Find the System V segments of the host in the tables of Linux.

layer: room
plain: succeeds
"""

if str(TARGET["shm_key"]) in open("/proc/sysvipc/shm").read().split():
    print(MARKER)
