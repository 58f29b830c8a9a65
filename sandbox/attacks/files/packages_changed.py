"""Change a package that later sessions import.

layer: mounts
plain: depends, on who owns the interpreter
"""

import json
import os

import numpy

for module in (numpy, json):
    try:
        os.close(os.open(module.__file__, os.O_RDWR))
    except OSError:
        continue
    print(MARKER)
    break
