"""Have Linux end other processes before itself when memory runs out.

layer: users
plain: depends, on how Linux was built and the rights of the user
"""

import os

with open("/proc/self/oom_score_adj", "r+") as file:
    before = file.read()
    file.seek(0)
    file.write(str(int(before) - 1))
with open("/proc/self/oom_score_adj", "w") as file:
    file.write(before)
print(MARKER)
