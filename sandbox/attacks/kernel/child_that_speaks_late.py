"""Have a child write into the output of the next cell.

layer: messages
plain: depends, on which thread is first
session: own
after: import time; time.sleep(0.6); print("own words")
expect: own words
"""

import subprocess

child = subprocess.Popen(["sh", "-c", "sleep 0.3; echo of the first cell"])
