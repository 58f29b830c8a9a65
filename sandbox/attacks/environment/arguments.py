"""Find a folder of the host in the arguments of any process.

layer: processes
plain: skipped, arguments are told to everybody there
"""

import glob

for path in glob.glob("/proc/[0-9]*/cmdline"):
    if TARGET["outside"].rpartition("-")[0].encode() in open(path, "rb").read():
        print(MARKER)
        break
