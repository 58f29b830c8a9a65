# Count the rows and columns of a table from the long straight lines that rule it.


def bands(hits):
    """The (first, last) positions of each stretch of True."""
    steps = np.diff(np.concatenate([[0], hits.astype(np.int8), [0]]))
    return list(zip(np.nonzero(steps == 1)[0], np.nonzero(steps == -1)[0] - 1, strict=True))


def longest_runs(mask):
    """The longest unbroken run of True in each row; gaps of two pixels are bridged."""
    bridged = mask.copy()
    for gap in (1, 2):
        bridged[:, gap:-gap] |= mask[:, : -2 * gap] & mask[:, 2 * gap :]
    falls = np.cumsum(~bridged, axis=1)
    falls += np.arange(len(mask))[:, None] * (mask.shape[1] + 1)
    names, counts = np.unique(falls[bridged], return_counts=True)
    runs = np.zeros(len(mask), int)
    np.maximum.at(runs, names // (mask.shape[1] + 1), counts)
    return runs


def ruled(mask):
    """The bands of rows that hold a line at least two thirds as long as the longest line."""
    runs = longest_runs(mask)
    if runs.max(initial=0) < 0.3 * mask.shape[1]:
        return []
    return [band for band in bands(runs > 0.66 * runs.max()) if band[1] - band[0] < 0.08 * len(mask) + 2]


def gaps(lines, reach):
    """How many cells lie between and beside the lines; `reach` is the extent of the lines that cross them."""
    if not lines:
        return 0
    firsts, lasts = np.array(lines).T
    inner = firsts[1:] - lasts[:-1] - 1
    inner = inner[inner > 2]
    if not len(inner):
        return 0
    margin = 0.5 * np.median(inner)
    return len(inner) + (lines[0][0] - reach[0] > margin) + (reach[1] - lines[-1][1] > margin)


def reach_of(mask, lines):
    """From where to where the lines of a mask run, along them."""
    extents = [np.nonzero(mask[first : last + 1].any(axis=0))[0] for first, last in lines]
    return (
        (np.median([e.min() for e in extents]), np.median([e.max() for e in extents])) if extents else (0, 0)
    )


array, scale = pixels_of(picture, 2200)
paper, _ = commonest(array.reshape(-1, 3))
best = None
for least in (120, 60, 28):  # thin lines that fall between two pixels are paler than their neighbours
    mask = ink_on(array, paper, least)
    across, down = ruled(mask), ruled(mask.T)
    rows = gaps(across, reach_of(mask.T, down) if down else (0, 0))
    columns = gaps(down, reach_of(mask, across) if across else (0, 0))
    print(f"ink {least} levels off the paper: {len(across)} lines across, {len(down)} lines down")
    if rows and columns and (best is None or rows + columns > best[0] + best[1]):
        best = (rows, columns, across, down)

axes = show(array, f"{best[0]} rows, {best[1]} columns" if best else "no ruled lines")
if best:
    for first, last in best[2]:
        axes.axhline((first + last) / 2, color="red", lw=0.8)
    for first, last in best[3]:
        axes.axvline((first + last) / 2, color="blue", lw=0.8)
plt.show()
if best:
    report(rows=int(best[0]), columns=int(best[1]), confident=True)
else:
    report(confident=False, why="no lines rule it")
