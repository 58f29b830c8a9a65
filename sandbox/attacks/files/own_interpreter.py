"""Write to the interpreter that it runs in, which is the host's (CVE-2019-5736).

layer: mounts
plain: depends, on who owns the interpreter
"""

import os
import shutil
import tempfile

program = os.path.realpath("/proc/self/exe")
try:
    os.close(os.open("/proc/self/exe", os.O_RDWR))
except OSError as refused:
    if refused.errno == 26:  # ETXTBSY: only that it runs protects it, and one waits for its end
        with open(os.path.join(os.path.dirname(program), "sandbox-check"), "w") as file:
            pass
        os.unlink(file.name)
        print(MARKER)
    else:
        raise
else:
    print(MARKER)
