"""Become another user.

layer: users
plain: succeeds as root
"""

import os

child = os.fork()
if child == 0:
    for user in (0, 65534, 1):
        try:
            os.setgroups([])
            os.setresuid(user, user, user)
        except OSError:
            continue
        os._exit(7)
    os._exit(1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    print(MARKER)
