"""Print the keys to services that it finds in the environment of any process.

layer: environment
plain: succeeds
proof: host
"""

import glob
import os
import re

found = {f"{name}={value}".encode() for name, value in os.environ.items()}
for path in glob.glob("/proc/[0-9]*/environ"):
    try:
        found |= set(open(path, "rb").read().split(b"\0"))
    except OSError:
        continue
for each in found:
    if re.fullmatch(rb"SANDBOX_CHECK_\w+_API_KEY=sk-canary-\w+", each):
        print(each.decode())
