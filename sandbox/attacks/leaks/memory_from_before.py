"""Find secrets of the host, or of another session, in what this kernel was given of the process it comes from.

layer: room
plain: succeeds
"""

import hashlib
import re

wanted = {TARGET["secret_sha256"], TARGET["neighbour_secret_sha256"]}
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", buffering=0) as memory:
    for line in maps:
        start, _, end = line.split()[0].partition("-")
        size = int(end, 16) - int(start, 16)
        if " r" not in line or size > 2**26:
            continue
        try:
            memory.seek(int(start, 16))
            held = memory.read(size)
        except (OSError, OverflowError, ValueError):  # pages of Linux itself
            continue
        found = re.findall(rb"canary-[0-9a-f]{32}", held)
        if any(hashlib.sha256(secret).hexdigest() in wanted for secret in found):
            print(MARKER)
            break
