"""Leave code where the next kernel of this user might pick it up.

layer: room
plain: succeeds
sessions: 2
"""

import builtins
from pathlib import Path

if getattr(builtins, "sandbox_check_left", False):
    print(MARKER)
left = Path.home() / ".ipython/profile_default/startup/00-sandbox-check.py"
if left.exists():
    left.unlink()
else:
    left.parent.mkdir(parents=True, exist_ok=True)
    left.write_text("import builtins; builtins.sandbox_check_left = True\n")
