"""Print the key to a service that lies in a file of the home.

layer: mounts
plain: succeeds
proof: host
"""

import glob
import os

for path in {TARGET["key_file"], *glob.glob(os.path.dirname(TARGET["key_file"]) + "/.canary-*.env")}:
    print(open(path).read())
