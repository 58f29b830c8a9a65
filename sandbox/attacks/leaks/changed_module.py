"""Find a module as an earlier session has changed it.

layer: room
plain: fails
sessions: 2
"""

import json

if hasattr(json, "left"):
    print(MARKER)
json.left = True
