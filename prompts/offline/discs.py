# Measure the distance between discs: fit a circle to each, finer than a pixel, and compare the radii.
array, scale = pixels_of(picture, 2000)
background = background_of(array)
things = without_specks(objects_in(array)) if is_drawing(array) else []
discs = rings_in(array, things, background) or discs_in(array, things, background)[0]
pairs = []
for i, a in enumerate(discs):
    for b in discs[:i]:
        if COLOURS and {a[3], b[3]} != set(COLOURS):
            continue
        apart = float(np.hypot(a[0] - b[0], a[1] - b[1]))
        pairs.append(((apart - a[2] - b[2]) * scale, a, b))
for x, y, radius, name in discs:
    print(f"{name} disc: centre ({x * scale:.2f}, {y * scale:.2f}), radius {radius * scale:.2f} px")
least = min(pairs, key=lambda pair: pair[0], default=None)

axes = show(array, f"gap {least[0]:.2f} px" if least else "no two discs")
for x, y, radius, _ in discs:
    axes.add_patch(plt.Circle((x, y), radius, fill=False, color="black", lw=1))
if least:
    axes.plot([least[1][0], least[2][0]], [least[1][1], least[2][1]], "k.--", lw=1)
    print(f"the smallest gap between two of them is {least[0]:.2f} px (below zero: they overlap)")
plt.show()
why = "" if least else f"{len(discs)} round shapes were found where two are needed"
if not is_drawing(array):
    why = "this is no simple drawing, so circles cannot be told from other edges"
report(discs=len(discs), gap=round(least[0], 2) if least else None, confident=not why, why=why)
