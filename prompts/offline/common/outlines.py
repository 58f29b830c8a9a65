# Find regular outlines (circles, squares, pentagons, …) that may cross, by matching templates with ink.


def outline(sides, turn, samples):
    """Points of a unit outline around the origin: a circle when sides is 0, else a regular polygon."""
    if sides == 0:
        angle = np.arange(samples) * 2 * np.pi / samples
        return np.column_stack([np.cos(angle), np.sin(angle)])
    angle = turn + np.arange(sides + 1) * 2 * np.pi / sides - np.pi / 2
    corners = np.column_stack([np.cos(angle), np.sin(angle)])
    at = np.arange(samples) * sides / samples
    edge, part = at.astype(int), (at % 1)[:, None]
    return corners[edge] * (1 - part) + corners[edge + 1] * part


def stroke_of(ink):
    """How wide the lines of a mask are, in pixels: twice its area over the length of its border."""
    inner = ink[1:-1, 1:-1] & ink[:-2, 1:-1] & ink[2:, 1:-1] & ink[1:-1, :-2] & ink[1:-1, 2:]
    return max(1.0, 2 * ink.sum() / max(1, ink.sum() - inner.sum()) - 1)


def closeness(ink):
    """1 on the ink, less beside it, 0 three pixels away: what a refined template climbs on."""
    near, far = grown(ink, 1), grown(ink, 2)
    return ink * 0.4 + near * 0.35 + far * 0.25


def lookup(field, points):
    """The values of a field at points (x, y); nothing lies outside."""
    x, y = np.rint(points[..., 0]).astype(int), np.rint(points[..., 1]).astype(int)
    inside = (x >= 0) & (y >= 0) & (x < field.shape[1]) & (y < field.shape[0])
    return np.where(inside, field[y.clip(0, field.shape[0] - 1), x.clip(0, field.shape[1] - 1)], 0)


def coarse_of(ink, side):
    """The ink with blocks of `factor` pixels merged so that its longer side is at most `side`; the factor."""
    factor = -(-max(ink.shape) // side)
    height, width = (-(-length // factor) for length in ink.shape)
    padded = np.zeros((height * factor, width * factor), bool)
    padded[: ink.shape[0], : ink.shape[1]] = ink
    return padded.reshape(height, factor, width, factor).any(axis=(1, 3)), factor


def candidates(ink, sides, turns, least, side=160):
    """Coarse guesses (score, x, y, radius, turn) for every template that finds enough ink below it."""
    coarse, factor = coarse_of(ink, side)
    shape = [length + length // 2 for length in coarse.shape]
    spectrum = np.fft.rfft2(grown(coarse, 1), shape)
    guesses = []
    for turn in turns:
        unit = outline(sides, turn, 720)
        for radius in range(4, int(max(coarse.shape) * 0.75) + 2):
            points = np.unique(np.rint(unit * radius).astype(int), axis=0)
            low, high = -points.min(axis=0), np.array(coarse.shape)[::-1] - points.max(axis=0)
            if (low >= high).any():
                break
            kernel = np.zeros(shape)
            kernel[points[:, 1] % shape[0], points[:, 0] % shape[1]] = 1
            match = np.fft.irfft2(spectrum * np.fft.rfft2(kernel).conj(), shape) / len(points)
            match = match[low[1] : high[1], low[0] : high[0]]
            for y, x in np.argwhere((match >= least) & (match >= peaks_around(match) - 1e-6)):
                guesses.append(
                    (
                        match[y, x],
                        (x + low[0] + 0.5) * factor - 0.5,
                        (y + low[1] + 0.5) * factor - 0.5,
                        radius * factor,
                        turn,
                    )
                )
    return guesses, factor


def peaks_around(field):
    """For each place the largest value among it and its eight neighbours."""
    padded = np.pad(field, 1, constant_values=-1)
    rows = np.maximum(np.maximum(padded[:-2], padded[1:-1]), padded[2:])
    return np.maximum(np.maximum(rows[:, :-2], rows[:, 1:-1]), rows[:, 2:])


def thinned(guesses, apart):
    """The best guesses, none of which has the place and radius of a better one."""
    kept = []
    for guess in sorted(guesses, reverse=True):
        near = (
            np.hypot(guess[1] - other[1], guess[2] - other[2]) + abs(guess[3] - other[3]) for other in kept
        )
        if len(kept) < 400 and all(distance > apart for distance in near):
            kept.append(guess)
    return kept


def refined(guess, field, sides, step):
    """The guess after it climbed to the place, radius and turn where the field below it is fullest."""
    x, y, radius, turn = guess[1:]
    best = lookup(field, outline(sides, turn, 240) * radius + (x, y)).mean()
    while step >= 0.2:
        moves = [(dx, dy, dr, 0) for dx in (-1, 0, 1) for dy in (-1, 0, 1) for dr in (-1, 0, 1)]
        moves += [(0, 0, 0, way) for way in ((-1, 1) if sides else ())]
        trials = [
            (x + a * step, y + b * step, max(3, radius + c * step), turn + d * step / radius)
            for a, b, c, d in moves
        ]
        points = np.stack([outline(sides, t[3], 240) * t[2] + t[:2] for t in trials])
        means = lookup(field, points).mean(axis=1)
        if means.max() > best + 1e-9:
            best, (x, y, radius, turn) = means.max(), trials[int(means.argmax())]
        else:
            step /= 2
    return best, x, y, radius, turn


def outlines_in(ink, sides, turns, least=0.9, visible=0.97):
    """The outlines (score, x, y, radius, turn) that stand in the ink, best first.

    `least` is the share of an outline that must lie on ink, `visible` the same for the coarse search.
    """
    rows, columns = np.nonzero(ink)
    if not len(rows):
        return []
    left, top = columns.min() - 2, rows.min() - 2
    ink = np.pad(ink[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1], 2)
    stroke, field = stroke_of(ink), closeness(ink)
    guesses, factor = candidates(ink, sides, turns, visible - 0.05)
    found = [refined(guess, field, sides, max(1.0, factor)) for guess in thinned(guesses, 2.5 * factor)]
    near, likely = grown(ink, 1), thinned(found, stroke + 2)[:60]
    kept = [guess for guess in likely if stands_out(guess, ink, near, sides, stroke, least)]
    kept = without_mixtures(kept, ink.shape, sides, int(np.ceil(stroke / 2)) + 1)
    return [(float(score), x + left, y + top, radius, turn) for score, x, y, radius, turn in kept]


def without_mixtures(guesses, shape, sides, reach):
    """The guesses without those that are put together from pieces of the others, the least own one first."""
    traces = []
    for _, x, y, radius, turn in guesses:
        trace = np.rint(outline(sides, turn, 2000) * radius + (x, y)).astype(int)
        trace = trace.clip(0, np.array(shape)[::-1] - 1)
        band = np.zeros(shape, bool)
        band[trace[:, 1], trace[:, 0]] = True
        traces.append((trace, grown(band, reach)))
    kept, cover = (
        list(range(len(guesses))),
        sum((band.astype(int) for _, band in traces), np.zeros(shape, int)),
    )
    while kept:
        own = {i: (cover[traces[i][0][:, 1], traces[i][0][:, 0]] == 1).mean() for i in kept}
        least = min(kept, key=lambda i: (own[i], guesses[i][3]))
        if own[least] > 0.2:
            break
        kept.remove(least)
        cover -= traces[least][1]
    return [guesses[i] for i in kept]


def stands_out(guess, ink, near, sides, stroke, least):
    """Does the outline lie on ink, with little ink just inside and outside of it?"""
    _, x, y, radius, turn = guess
    unit = outline(sides, turn, 480)
    if radius < 1.5 * stroke + 3 or lookup(near, unit * radius + (x, y)).mean() < least:
        return False
    apart = (stroke + 3) / (np.cos(np.pi / sides) if sides else 1)
    beside = [lookup(ink, unit * (radius + way * apart) + (x, y)).mean() for way in (-1, 1)]
    return max(beside) < 0.6
