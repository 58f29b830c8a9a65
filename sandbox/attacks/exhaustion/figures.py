"""Show 60 figures.

layer: output
plain: skipped, it would fill the memory of its reader
session: own
proof: neighbour
"""

from PIL import Image
from IPython.display import display

picture = Image.effect_noise((400, 400), 90)
for _ in range(60):
    display(picture)
