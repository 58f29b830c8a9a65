# Report what was measured: one line that a program reads, and one figure that a person looks at.
import json

import matplotlib.pyplot as plt
import numpy as np


def report(**found):
    """Print the findings as one line of JSON; numbers of numpy become plain ones."""
    print("RESULT " + json.dumps(found, default=lambda value: value.item()))


def pixels_of(picture, side):
    """The picture as an RGB array of at most `side` pixels a side, and original pixels per array pixel."""
    scale = max(1.0, max(picture.size) / side)
    if scale > 1:
        picture = picture.resize(
            [max(1, round(length / scale)) for length in picture.size], 4
        )  # 4: box filter
    return np.asarray(picture.convert("RGB")), scale


def show(array, title):
    """Draw the array small, without ticks; the caller adds marks and calls plt.show()."""
    _, axes = plt.subplots(figsize=(5, 5))
    axes.imshow(array)
    axes.set_title(title, fontsize=9)
    axes.axis("off")
    return axes
