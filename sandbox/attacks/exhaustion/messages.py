"""Send 100,000 display messages.

layer: output
plain: skipped, it would fill the memory of its reader
session: own
proof: neighbour
timeout: 3
"""

from IPython.display import display

for number in range(100_000):
    display({"text/plain": str(number)}, raw=True)
