# Fit circles to the edges of discs, finer than a pixel.


def edge_points(array, colour, background):
    """Points (x, y) where the picture is half `colour`, half background; other blends give none."""
    away = colour - background
    mix = ((array - background) @ away) / (away @ away)
    pure = np.abs(array - background - mix[..., None] * away).max(axis=2) < 40
    points = []
    for axis in (0, 1):
        a, b = (mix[:-1], mix[1:]) if axis == 0 else (mix[:, :-1], mix[:, 1:])
        both = (pure[:-1] & pure[1:]) if axis == 0 else (pure[:, :-1] & pure[:, 1:])
        y, x = np.nonzero(both & ((a < 0.5) != (b < 0.5)))
        part = (0.5 - a[y, x]) / (b[y, x] - a[y, x])
        points.append(np.column_stack([x + part * (axis == 1), y + part * (axis == 0)]))
    return np.concatenate(points)


def fitted(points):
    """The circle (x, y, radius) of least squares through points."""
    x, y = points.T
    system = np.column_stack([2 * x, 2 * y, np.ones(len(x))])
    a, b, c = np.linalg.lstsq(system, x * x + y * y, rcond=None)[0]
    return a, b, np.sqrt(max(0.0, c + a * a + b * b))


def circles_through(points, most=12, least_arc=0.22):
    """Circles (x, y, radius) on which the points lie, found by random triples, the fullest first."""
    chance, found, start = np.random.default_rng(0), [], len(points)
    while len(points) >= 12 and len(found) < most and len(points) > 0.04 * start:
        triples = points[chance.integers(0, len(points), (500, 3))]
        centres, radii = circumcircles(triples)
        sample = points[:: max(1, len(points) // 1500)]
        off = np.abs(np.hypot(*(sample[None] - centres[:, None]).transpose(2, 0, 1)) - radii[:, None])
        x, y, radius = fitted_near(
            points, centres[(off < 0.8).sum(axis=1).argmax()], radii[(off < 0.8).sum(axis=1).argmax()]
        )
        off = np.abs(np.hypot(points[:, 0] - x, points[:, 1] - y) - radius)
        if not radius or (off < 0.8).sum() < least_arc * 8 * radius:  # a whole circle crosses 8 r grid lines
            break
        found.append((float(x), float(y), float(radius)))
        points = points[off > 1.6]
    return found


def circumcircles(triples):
    """The circles through three points each; flat triples give a radius of 0."""
    a, b, c = triples.transpose(1, 0, 2)
    ab, ac = b - a, c - a
    cross = 2 * (ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0])
    safe = np.where(np.abs(cross) < 1, np.inf, cross)
    lengths = np.column_stack([(ab**2).sum(axis=1), (ac**2).sum(axis=1)])
    x = (ac[:, 1] * lengths[:, 0] - ab[:, 1] * lengths[:, 1]) / safe
    y = (ab[:, 0] * lengths[:, 1] - ac[:, 0] * lengths[:, 0]) / safe
    return a + np.column_stack([x, y]), np.hypot(x, y)


def fitted_near(points, centre, radius):
    """The circle fitted again and again to the points close to it."""
    x, y = centre
    for tolerance in (1.5, 1.0, 0.8):
        close = np.abs(np.hypot(points[:, 0] - x, points[:, 1] - y) - radius) < tolerance
        if close.sum() < 8:
            return x, y, 0.0
        x, y, radius = fitted(points[close])
    return x, y, radius


def discs_in(array, things, background):
    """The discs (x, y, radius, colour) whose arcs border the background, and how many things they half explain."""
    discs, doubtful = [], 0
    for thing in things:
        left, top = max(0, thing["box"][0] - 3), max(0, thing["box"][1] - 3)
        window = array[top : thing["box"][3] + 4, left : thing["box"][2] + 4].astype(float)
        points = edge_points(window, thing["colour"], background)
        explained = np.zeros(len(points), bool)
        for x, y, radius in circles_through(points):
            explained |= np.abs(np.hypot(points[:, 0] - x, points[:, 1] - y) - radius) < 1.6
            disc = (x + left, y + top, radius, thing["name"])
            if radius > 2.5 and not any(same_disc(disc, other, thing["style"]) for other in discs):
                discs.append(disc)
        doubtful += explained.any() and explained.mean() < 0.85
    return discs, int(doubtful)


def rings_in(array, things, background):
    """The circles (x, y, outer radius, colour) of outlines that cross each other."""
    rings = []
    for thing in things:
        if thing["style"] == "outline" and thing["holes"] > 1:
            left, top, right, bottom = thing["box"]
            window = array[top : bottom + 1, left : right + 1]
            ink = ink_on(window, background)
            for _, x, y, radius, _ in outlines_in(ink, 0, [0.0]):
                turns = (
                    np.rint(outline(0, 0.0, 90) * radius + (x, y))
                    .astype(int)
                    .clip(0, np.array(ink.shape)[::-1] - 1)
                )
                colour = np.median(window[turns[:, 1], turns[:, 0]], axis=0)
                rings.append((x + left, y + top, radius + stroke_of(ink) / 2, name_of(colour)))
    return rings


def same_disc(disc, other, style):
    """Is this a disc that was found before, or the inner edge of a ring?"""
    apart = np.hypot(disc[0] - other[0], disc[1] - other[1])
    inner = style == "outline" and apart < 3 and disc[2] < other[2]
    return inner or apart + abs(disc[2] - other[2]) < 0.15 * disc[2] + 2
