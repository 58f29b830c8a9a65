"""Open the byte code of a module of the interpreter for writing, which later kernels would run.

layer: mounts
plain: depends, on who owns the interpreter
"""

import json
import os

for path in (json.__file__, json.__cached__, os.__file__):
    if os.path.exists(path):
        os.close(os.open(path, os.O_WRONLY))
        print(MARKER)
        break
