"""Make a file in a folder of the host that anybody may write to.

layer: mounts
plain: succeeds
proof: host
"""

import os

with open(os.path.join(TARGET["outside"], "made"), "w") as file:
    file.write(MARKER)
