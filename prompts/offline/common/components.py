# Connected components of a mask, from the runs of its rows, without any loop over pixels.


def label(mask, *, diagonal=True):
    """Labels 1…n for the connected components of a mask (0 outside), and n."""
    height, width = mask.shape
    padded = np.zeros((height, width + 2), np.int8)
    padded[:, 1:-1] = mask
    steps = np.diff(padded, axis=1)
    rows, starts = np.nonzero(steps == 1)
    ends = np.nonzero(steps == -1)[1]  # one past the last pixel of the run
    if not len(rows):
        return np.zeros(mask.shape, np.int32), 0
    span = width + 4
    sides = ("left", "right") if diagonal else ("right", "left")  # may the corners of two runs join them?
    first = np.searchsorted(rows * span + ends, (rows + 1) * span + starts, side=sides[0])
    last = np.searchsorted(rows * span + starts, (rows + 1) * span + ends, side=sides[1])
    below = np.maximum(last - first, 0)
    upper = np.repeat(np.arange(len(rows)), below)
    lower = np.arange(below.sum()) - np.repeat(np.cumsum(below) - below, below) + np.repeat(first, below)
    names, n = joined(len(rows), upper, lower)
    labels = np.zeros(mask.shape, np.int32)
    labels[mask.astype(bool)] = np.repeat(names + 1, ends - starts)
    return labels, n


def joined(n, left, right):
    """A component number 0…m-1 for each of n nodes that are joined by edges left[i]-right[i], and m."""
    parent = np.arange(n)
    while True:
        a, b = parent[left], parent[right]
        if (a == b).all():
            break
        low = np.minimum(a, b)
        np.minimum.at(parent, a, low)
        np.minimum.at(parent, b, low)
        while (parent[parent] != parent).any():
            parent = parent[parent]
    roots, names = np.unique(parent, return_inverse=True)
    return names, len(roots)


def boxes(labels, n):
    """For each of the n components: left, top, right, bottom (both ends inside) and its number of pixels."""
    rows, columns = np.nonzero(labels)
    names = labels[rows, columns] - 1
    box = np.empty((n, 5), np.int64)
    box[:, :2] = max(labels.shape)
    box[:, 2:4] = -1
    np.minimum.at(box[:, 0], names, columns)
    np.minimum.at(box[:, 1], names, rows)
    np.maximum.at(box[:, 2], names, columns)
    np.maximum.at(box[:, 3], names, rows)
    box[:, 4] = np.bincount(names, minlength=n)
    return box


def grown(mask, by=1):
    """The mask widened by a number of pixels in all eight directions."""
    for _ in range(by):
        wide = mask.copy()
        wide[1:] |= mask[:-1]
        wide[:-1] |= mask[1:]
        mask = wide.copy()
        mask[:, 1:] |= wide[:, :-1]
        mask[:, :-1] |= wide[:, 1:]
    return mask


def filled(mask):
    """The mask with its holes filled, and the number of holes of more than one pixel in a thousand."""
    outside = np.pad(~mask, 1, constant_values=True)
    labels, n = label(outside, diagonal=False)
    sizes = np.bincount(labels.ravel(), minlength=n + 1)
    sizes[0] = sizes[labels[0, 0]] = 0
    return ~(labels == labels[0, 0])[1:-1, 1:-1], int((sizes > max(2, mask.size / 1000)).sum())
