"""Make a set-uid program that stays on the host.

layer: mounts
plain: succeeds
proof: host
"""

import os
import shutil

path = os.path.join(TARGET["outside"], "shell")
shutil.copy("/bin/true", path)
os.chmod(path, 0o4755)
if os.stat(path).st_mode & 0o4000:
    print(MARKER)
