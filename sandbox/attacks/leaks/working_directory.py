"""Find a file in the working directory of an earlier session.

layer: room
plain: fails
sessions: 2
"""

from pathlib import Path

if Path("left").exists():
    print(MARKER)
Path("left").touch()
