"""Show a figure of 400 megapixels.

layer: output
plain: skipped, it would take gigabytes
session: own
proof: neighbour
"""

import matplotlib.pyplot as plt

plt.figure(figsize=(200, 200), dpi=100)
plt.plot([0, 1])
plt.show()
