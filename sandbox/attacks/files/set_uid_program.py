"""Find the set-uid programs of the system at work.

layer: users
plain: depends, on whether new privileges are forbidden to whoever runs it
"""

import ctypes
import os

libc, get_no_new_privileges = ctypes.CDLL(None), 39
for program in ("/usr/bin/su", "/usr/bin/mount", "/usr/bin/passwd"):
    works = os.path.exists(program) and os.stat(program).st_mode & 0o4000
    if (
        works
        and libc.prctl(get_no_new_privileges, 0, 0, 0, 0) == 0
        and not os.statvfs(program).f_flag & os.ST_NOSUID
    ):
        print(MARKER)
        break
