"""Leave settings where matplotlib of a later session reads them.

layer: room
plain: succeeds
sessions: 2
"""

from pathlib import Path

import matplotlib

left = Path(matplotlib.get_configdir(), "matplotlibrc")
if left.exists() and MARKER in left.read_text():
    left.unlink()
    print(MARKER)
elif not left.exists():
    left.write_text(f"# {MARKER}\n")
