"""Find a variable of an earlier session.

layer: room
plain: fails
sessions: 2
"""

if "left" in globals():
    print(MARKER)
left = True
