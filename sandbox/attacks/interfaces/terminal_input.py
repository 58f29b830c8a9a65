"""Type into the terminal of whoever started the host (CVE-2017-5226).

layer: calls
plain: depends, on a setting of the machine
"""

import fcntl
import os
import pty
import termios

leader, follower = pty.openpty()
try:
    fcntl.ioctl(follower, termios.TIOCSTI, b"x")
    print(MARKER)
finally:
    os.close(leader)
    os.close(follower)
