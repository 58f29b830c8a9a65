"""Leave code where the next kernel of this user might pick it up.

layer: room
plain: depends, on whether the home can be written
sessions: 2
"""

import builtins
import os
import sys
from pathlib import Path

if getattr(builtins, "sandbox_check_left", False):
    print(MARKER)
home, code = Path(os.path.expanduser("~")), "import builtins; builtins.sandbox_check_left = True\n"
places = [
    home / ".ipython/profile_default/startup/00-sandbox-check.py",
    *(Path(p) / "sandbox_check.pth" for p in sys.path),
]
for place in places:
    try:
        if place.exists():
            place.unlink()
        elif "ipython" in str(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(code)
        elif place.parent.is_dir() and os.access(place.parent, os.W_OK) and "site-packages" not in str(place):
            place.write_text(code)
    except OSError:
        pass
