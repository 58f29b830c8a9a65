"""Find a System V segment of the host by its place in the list of all.

layer: room
plain: depends, on how many segments there are
"""

import ctypes

libc, tell_of_place, space = ctypes.CDLL(None, use_errno=True), 13, ctypes.create_string_buffer(256)
if any(libc.shmctl(place, tell_of_place, space) >= 0 for place in range(1024)):
    print(MARKER)
