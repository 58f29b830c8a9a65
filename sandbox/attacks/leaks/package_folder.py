"""Leave a file among the packages of the interpreter, which every later kernel imports from.

layer: mounts
plain: depends, on who owns the interpreter
sessions: 2
"""

import sysconfig
from pathlib import Path

left = Path(sysconfig.get_path("purelib"), f"sandbox_check_{MARKER[:8]}.txt")
if left.exists():
    left.unlink()
    print(MARKER)
else:
    left.touch()
