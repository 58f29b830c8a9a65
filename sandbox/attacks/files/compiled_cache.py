"""Leave compiled code beside the modules of the interpreter.

layer: mounts
plain: depends, on who owns the interpreter
"""

import json
import os

path = os.path.join(os.path.dirname(json.__file__), "__pycache__", "sandbox_check.pyc")
with open(path, "wb"):
    pass
os.unlink(path)
print(MARKER)
