# Count where two lines of different colours cross: the places at which their pixels meet.
array, scale = pixels_of(picture, 1600)
background = background_of(array)
ink = ink_on(array, background, 48)
wide = array.astype(float) - background
strength = np.linalg.norm(wide, axis=2)
hues = wide / np.maximum(strength, 1)[..., None]  # blends with the background keep their direction
strong = ink & (strength > 0.6 * np.percentile(strength[ink], 90)) if ink.any() else ink
cast = np.rint(hues * 8).astype(int) @ np.array([400, 20, 1])
directions = []
for code in sorted(set(cast[strong].tolist()), key=lambda code: -(cast[strong] == code).sum())[:40]:
    mean = hues[strong & (cast == code)].mean(axis=0)
    mean /= np.linalg.norm(mean)
    if (strong & (cast == code)).sum() > 0.05 * strong.sum() and all(
        mean @ other < 0.93 for other in directions
    ):
        directions.append(mean)
names = [
    name_of(np.clip(background + d * np.percentile(strength[strong & (hues @ d > 0.95)], 90), 0, 255))
    for d in directions
]
print(f"colours of lines: {', '.join(names) or 'none'}")
chosen = [called(colour, names) for colour in COLOURS] if COLOURS else [[i] for i in range(len(directions))]
axes, crossings, why = show(array, "crossings"), [], ""
if len(chosen) != 2 or not all(len(found) == 1 for found in chosen) or chosen[0] == chosen[1]:
    why = f"two lines of clearly different colours are needed; there are {len(names)}: {', '.join(names)}"
else:
    a, b = (directions[found[0]] for found in chosen)
    first = ink & (hues @ a > hues @ b)
    second = ink & ~first
    stroke = max(stroke_of(first), stroke_of(second))
    labels, n = label(grown(first, 1) & grown(second, 1))
    meeting = grown(labels > 0, int(stroke / 2) + 1)
    labels, n = label(meeting)
    for left, top, right, bottom, _ in boxes(labels, n):
        x, y = (left + right) / 2, (top + bottom) / 2
        reach = max(right - left, bottom - top) / 2 + stroke + 2
        ring = np.array([[x, y]])
        arms = arcs_around(first, ring, reach)[0], arcs_around(second, ring, reach)[0]
        print(f"they meet at ({x * scale:.0f}, {y * scale:.0f}), arms {arms[0]} and {arms[1]}")
        crossings.append((x, y))
        axes.plot(x, y, "o", color="black", mfc="none", ms=10)
plt.show()
report(count=len(crossings), confident=not why, why=why)
