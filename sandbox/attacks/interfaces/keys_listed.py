"""Read which keys the users of the machine have.

layer: users
plain: depends, on how Linux was built
"""

if open("/proc/keys").read().strip():
    print(MARKER)
