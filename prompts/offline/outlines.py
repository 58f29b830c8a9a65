# Count outlines that may cross each other: match circles or regular polygons of every size against the lines.
array, scale = pixels_of(picture, 1200)
ink = ink_on(array, background_of(array))
turns = [0.0] if SIDES == 0 else [turn * 2 * np.pi / SIDES / TURNS for turn in range(TURNS)]
found = outlines_in(ink, SIDES, turns)

axes = show(array, f"{len(found)} {SHAPE} outlines")
for number, (score, x, y, radius, turn) in enumerate(found, 1):
    place = f"centre ({x * scale:.1f}, {y * scale:.1f}), radius {radius * scale:.1f} px"
    print(f"{SHAPE} {number}: {place}, {score:.0%} on ink")
    trace = outline(SIDES, turn, 240) * radius + (x, y)
    axes.plot(*trace.T, lw=1)
    axes.text(x, y, str(number), ha="center", va="center", fontsize=8)
plt.show()
why = "" if is_drawing(array) else "this is no simple drawing, so lines cannot be told from other edges"
report(count=None if why else len(found), confident=bool(found) and not why, why=why)
