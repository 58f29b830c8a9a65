"""Change a setting of Linux below /proc/sys.

layer: mounts
plain: succeeds as root
"""

import os

for name in ("kernel/hostname", "kernel/modprobe", "vm/drop_caches", "fs/file-max", "net/ipv4/ip_forward"):
    try:
        os.close(os.open(f"/proc/sys/{name}", os.O_WRONLY))
    except OSError:
        continue
    print(MARKER)
    break
