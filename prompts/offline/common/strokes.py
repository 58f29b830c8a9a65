# Follow drawn lines: where the lines of one colour truly end, and where they only pass below another.


def arcs_around(mask, points, radius, samples=72):
    """How many separate arcs of a circle around each point lie on the mask."""
    angle = np.arange(samples) * 2 * np.pi / samples
    ring = points[:, None] + radius * np.column_stack([np.cos(angle), np.sin(angle)])[None]
    on = lookup(mask, ring) > 0
    return (on & ~np.roll(on, 1, axis=1)).sum(axis=1)


def tips_of(mask, everything, stroke):
    """The ends (x, y) of the lines of a mask; an end that meets another line is none.

    At an end a small circle around a pixel cuts its line once, anywhere else twice or more.
    """
    radius = max(1.6 * stroke, stroke + 2)
    y, x = np.nonzero(mask)
    points = np.column_stack([x, y])
    ends = np.zeros(mask.shape, bool)
    for start in range(0, len(points), 20000):
        part = points[start : start + 20000]
        single = arcs_around(mask, part, radius) == 1
        part = part[single]
        part = part[arcs_around(everything, part, radius) == 1]
        ends[part[:, 1], part[:, 0]] = True
    labels, n = label(ends)
    box = boxes(labels, n)
    return [((b[0] + b[2]) / 2, (b[1] + b[3]) / 2) for b in box if b[4] >= 0.5 * stroke * stroke]
