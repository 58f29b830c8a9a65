# Separate the things in a picture: closed outlines as they stand, filled areas by their colours.


def objects_in(array):
    """Things as dicts: box (left, top, right, bottom), area, colour, name, shape, solidity, style, holes."""
    background = background_of(array)
    ink = ink_on(array, background)
    labels, n = label(ink)
    box = boxes(labels, n)
    least = max(12, 0.00002 * ink.size)
    found = []
    for index in np.nonzero(box[:, 4] >= least)[0][:3000]:
        left, top, right, bottom, _ = box[index]
        window = (slice(top, bottom + 1), slice(left, right + 1))
        mask = labels[window] == index + 1
        padded = np.pad(mask, 1)
        if stroke_of(padded) < 0.2 * min(mask.shape) - 0.5:
            found.append(measured(mask, array[window], left, top, "outline", background))
        else:
            found += coloured_parts(mask, array[window], left, top, background, least)
    return [thing for thing in found if thing]


def coloured_parts(mask, window, left, top, background, least):
    """The one-coloured areas of a filled component; a border belongs to what it encloses."""
    palette, _ = palette_of(np.where(mask[..., None], window, background.astype(np.uint8)), apart=60)
    away = np.abs(palette - background).max(axis=1) > 30
    palette = palette[away]
    if len(palette) < 2:
        return [measured(mask, window, left, top, "filled", background)]
    nearest_of = nearest(window, palette)
    parts = []
    for index in range(len(palette)):
        labels, n = label(mask & (nearest_of == index))
        for number, (x0, y0, x1, y1, size) in enumerate(boxes(labels, n), 1):
            part = labels[y0 : y1 + 1, x0 : x1 + 1] == number
            if size < max(least, 0.01 * mask.sum()) or not core_of(part).any():
                continue
            cut = window[y0 : y1 + 1, x0 : x1 + 1]
            parts.append(measured(part, cut, left + x0, top + y0, "filled", background))
    return [part for part in parts if not any(encloses(part, other) for other in parts)]


def core_of(mask):
    """The pixels of a mask that are not on its border: blends along an edge have none."""
    return ~grown(np.pad(~mask, 1, constant_values=True))[1:-1, 1:-1]


def encloses(border, other):
    """Is the one thing nothing but the drawn border of the other?"""
    a, b = border["box"], other["box"]
    inside = a[0] < b[0] and a[1] < b[1] and a[2] > b[2] and a[3] > b[3]
    return inside and border["holes"] > 0 and other["area"] > 0.7 * border["area"]


def measured(mask, window, left, top, style, background):
    """What is to be said of one thing; its area counts holes."""
    whole, holes = filled(mask)
    core = core_of(mask)
    colour = np.median(window[core] if core.any() else window[mask], axis=0)
    small = style == "filled" and max(mask.shape) < 90 and np.abs(colour - background).max() > 30
    shape, solidity = shape_of(enlarged(whole, window, colour, background) if small else whole)
    height, width = mask.shape
    return {
        "box": (int(left), int(top), int(left + width - 1), int(top + height - 1)),
        "area": int(whole.sum()),
        "colour": colour,
        "name": name_of(colour),
        "shape": shape,
        "solidity": float(solidity),
        "style": style,
        "holes": holes,
    }


def enlarged(mask, window, colour, background, factor=4):
    """A small mask at four times its size, cut where the picture is half colour, half background."""
    away = colour - background
    mix = np.clip((window - background) @ away / (away @ away), 0, 1) * mask
    mix = Image.fromarray((np.pad(mix, 2) * 255).astype(np.uint8))
    large = np.asarray(mix.resize((mix.width * factor, mix.height * factor), 2)) > 127  # 2: bilinear
    return filled(large)[0] if large.sum() > 8 * factor**2 else mask


def without_specks(things):
    """The things that are no specks: not far smaller than the usual one."""
    if not things:
        return []
    usual = np.median([thing["area"] for thing in things])
    return [thing for thing in things if thing["area"] >= 0.004 * usual]


def may_be_merged(thing, shape):
    """Can this be several things that run together? Clean shapes fill their hull; circles merge into long ones."""
    if thing["shape"] in ("star", shape) or thing["style"] == "outline":
        return thing["shape"] != "star" and thing["solidity"] < 0.92
    limit = 0.97 if shape == "circle" and thing["shape"] not in ("triangle", "square") else 0.92
    return thing["shape"] in ("other", "ellipse") or thing["solidity"] < limit
