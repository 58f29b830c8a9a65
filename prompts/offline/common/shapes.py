# Say which simple shape a filled mask is, from the corners of its convex hull.


def hull_of(mask):
    """The convex hull of the centres of the pixels of a mask, as rows of x, y."""
    rows = np.nonzero(mask.any(axis=1))[0]
    left = mask[rows].argmax(axis=1)
    right = mask.shape[1] - 1 - mask[rows][:, ::-1].argmax(axis=1)
    points = np.concatenate([np.column_stack([x, rows]) for x in (left, right)])
    points = np.unique(points, axis=0).astype(float)
    return np.array(half_hull(points)[:-1] + half_hull(points[::-1])[:-1])


def half_hull(points):
    """One side of the convex hull of points that come sorted."""
    chain = []
    for point in points:
        while len(chain) > 1 and turn(chain[-2], chain[-1], point) <= 0:
            chain.pop()
        chain.append(point)
    return chain


def turn(a, b, c):
    """Twice the signed area of a triangle."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def area_of(polygon):
    """The area of a polygon given as rows of x, y."""
    x, y = np.array(polygon).T
    return abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


SPANNED = {3: 0.84, 4: 0.87, 5: 0.9, 6: 0.91, 7: 0.91}


def corners_of(hull):
    """The fewest corners of the hull that span most of its area; all of them when seven do not.

    Four corners of a pentagon span 72 %, five of a hexagon 83 %, six of a heptagon 89 %, seven of a circle
    87 %; corners that pixels blunt cost a few.
    """
    kept = list(range(len(hull)))
    fewest = np.array(hull)
    while len(kept) > 3:
        at = hull[kept]
        cuts = [abs(turn(at[i - 1], at[i], at[(i + 1) % len(at)])) for i in range(len(at))]
        del kept[int(np.argmin(cuts))]
        if len(kept) in SPANNED:
            kept = spread(hull, kept)
            if area_of(hull[kept]) < SPANNED[len(kept)] * area_of(hull):
                break
            fewest = hull[kept]
    return fewest


def spread(hull, kept):
    """The same number of corners, each moved along the hull to where they span the most."""
    for place in list(range(len(kept))) * 2:
        before, after = hull[kept[place - 1]], hull[kept[(place + 1) % len(kept)]]
        between = [i % len(hull) for i in range(kept[place - 1] + 1, kept[place - 1] + len(hull))]
        stop = between.index(kept[(place + 1) % len(kept)])
        choices = between[:stop]
        kept[place] = max(choices, key=lambda i: abs(turn(before, hull[i], after)))
    return kept


def shape_of(mask):
    """The name of the shape that a mask without holes fills, and how much of its convex hull it fills."""
    hull = hull_of(mask)
    if len(hull) < 3:
        return "other", 1.0
    around = np.hypot(*(np.roll(hull, -1, axis=0) - hull).T).sum()
    solidity = min(1.0, mask.sum() / (area_of(hull) + around / 2 + 1))  # the hull ends at centres of pixels
    corners = corners_of(hull)
    if solidity < 0.86:
        return ("star" if solidity < 0.72 and len(corners) in (4, 5, 6) else "other"), solidity
    names = {3: "triangle", 4: four_sided(corners), 5: "pentagon", 6: "hexagon", 7: "heptagon"}
    return names.get(len(corners)) or round_shape(mask), solidity


def four_sided(corners):
    """Square, rectangle or another shape of four sides."""
    if len(corners) != 4:
        return "other"
    sides = np.roll(corners, -1, axis=0) - corners
    lengths = np.hypot(*sides.T)
    across = np.abs((sides * np.roll(sides, -1, axis=0)).sum(axis=1)) / (lengths * np.roll(lengths, -1))
    if across.max() > 0.25:
        return "diamond" if lengths.max() < 1.15 * lengths.min() else "quadrilateral"
    return "square" if lengths.max() < 1.12 * lengths.min() + 1 else "rectangle"


def round_shape(mask):
    """Circle, octagon or ellipse, from the second moments of the mask."""
    rows, columns = np.nonzero(mask)
    spread = np.linalg.eigvalsh(np.cov(np.stack([columns, rows]))) if len(rows) > 4 else np.ones(2)
    return "circle" if spread[1] < 1.3 * spread[0] + 0.5 else "ellipse"
