"""Find a folder of the host in the arguments of any process.

layer: processes
plain: skipped, arguments are told to everybody there
"""

import glob

for path in glob.glob("/proc/[0-9]*/cmdline"):
    told = open(path, "rb").read()
    if TARGET["outside"].encode() in told or b"/root/" in told or b"/home/" in told:
        print(MARKER)
        break
