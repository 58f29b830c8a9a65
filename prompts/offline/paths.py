# Follow the paths of one colour each: find the stations by their letters, and where every colour ends.
array, scale = pixels_of(picture, 1100)
background = background_of(array)
palette, _ = palette_of(array, share=0.0002)
palette = palette[np.abs(palette - background).max(axis=1) > 36]
masks = inks_of(array, background, palette)
letters = letters_in(masks)
text_colour = max(
    range(len(masks)),
    default=None,
    key=lambda i: sum(s for name, s, _, k in letters if k == i and name in STATIONS),
)
stations = {}
for name, _, box, index in sorted(letters, key=lambda found: found[1]):
    if index == text_colour:
        stations[name] = box
        left, top, right, bottom = box
        for mask in masks:
            mask[max(0, top - 2) : bottom + 3, max(0, left - 2) : right + 3] = False


def away(tip, box):
    """How far a tip lies from a box."""
    return np.hypot(max(box[0] - tip[0], 0, tip[0] - box[2]), max(box[1] - tip[1], 0, tip[1] - box[3]))


def trimmed(mask, stroke):
    """The mask without specks, which blends of two colours leave behind."""
    labels, n = label(mask)
    sizes = np.bincount(labels.ravel(), minlength=n + 1)
    sizes[0] = 0
    return (sizes >= 1.5 * stroke * stroke)[labels]


strokes = [stroke_of(mask) for mask in masks]
usual = np.median([s for s, m in zip(strokes, masks, strict=True) if m.sum() > 0.001 * m.size] or [2.0])
masks = [trimmed(mask, usual) for mask in masks]
colours = [name_of(colour) for colour in palette]
lines = [i for i, mask in enumerate(masks) if mask.sum() > usual * 0.05 * max(mask.shape)]
everything = np.any([masks[i] for i in lines], axis=0) if lines else None
axes, wanted, clear = show(array, "paths from " + " to ".join(STATIONS)), [], True
for i in lines:
    tips = tips_of(masks[i], everything, usual)
    ends = [min(stations, key=lambda name: away(tip, stations[name])) for tip in tips] if stations else []
    places = [(round(x * scale), round(y * scale)) for x, y in tips]
    print(f"{colours[i]} path: {len(tips)} ends at {places}, near {', '.join(ends) or 'nothing'}")
    clear &= len(tips) == 2
    if sorted(ends) == sorted(STATIONS):
        wanted.append(colours[i])
    for tip, end in zip(tips, ends, strict=True):
        axes.plot(*tip, "o", color="black", ms=4)
        axes.text(*tip, f"{colours[i]}–{end}", fontsize=7)
plt.show()
missing = [name for name in STATIONS if name not in stations]
print(f"stations read: {', '.join(sorted(stations)) or 'none'}")
print(f"paths between {' and '.join(STATIONS)}: {len(wanted)}")
why = (
    f"no letter {missing[0]} was found"
    if missing
    else "a path forks, or its ends are hidden"
    if not clear
    else ""
)
report(count=len(wanted), colours=wanted, confident=not why and bool(lines), why=why)
