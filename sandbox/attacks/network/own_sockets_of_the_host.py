"""Connect anew to the sockets that its host listens on for it, as another client.

layer: mounts
plain: skipped, a kernel has its own files there
"""

import glob
import socket

for path in {line.split()[-1] for line in open("/proc/net/unix") if "/" in line} | set(
    glob.glob("/tmp/**/k*/*", recursive=True)
):
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(path)
        except OSError:
            continue
        print(MARKER)
        break
