# Colours: the background, the ink upon it, a palette of what is really there, and names for it.
import colorsys


def background_of(array):
    """The commonest colour of the border when that holds half of it, else of the whole picture."""
    border = np.concatenate([array[0], array[-1], array[:, 0], array[:, -1]])
    colour, share = commonest(border)
    return colour if share > 0.5 else commonest(array.reshape(-1, 3))[0]


def commonest(colours):
    """The mean of the fullest cell of a coarse colour histogram, and the share of colours near that mean."""
    codes = (colours.astype(np.int32) >> 4) @ np.array([256, 16, 1])
    top = np.bincount(codes, minlength=4096).argmax()
    mean = colours[codes == top].mean(axis=0)
    return mean, (np.abs(colours - mean).max(axis=1) < 24).mean()


def ink_on(array, background, least=36):
    """Where the picture differs from its background by more than `least` grey levels in some channel."""
    return np.abs(array - background).max(axis=2) > least


def palette_of(array, share=0.0004, apart=44, most=12):
    """The colours that fill areas, most frequent first: rows of RGB and the share of pixels of each.

    Only pixels whose neighbours agree count, so that blends along edges are no colours of their own.
    """
    colours = array[flat_in(array)]
    codes = (colours.astype(np.int32) >> 3) @ np.array([1024, 32, 1])
    counts = np.bincount(codes, minlength=32768)
    found, shares = [], []
    for code in np.argsort(-counts, kind="stable")[:256]:
        if counts[code] < max(6, share * len(codes)) / 2:
            break
        colour = np.array([code >> 10, code >> 5 & 31, code & 31]) * 8 + 4
        if found:
            distance = np.abs(np.array(found) - colour).max(axis=1)
            if distance.min() < apart:
                shares[distance.argmin()] += counts[code]
                continue
        found.append(colours[codes == code].mean(axis=0))
        shares.append(counts[code])
    kept = [i for i in np.argsort(-np.array(shares)) if shares[i] >= max(6, share * len(codes))][:most]
    return np.array(found).reshape(-1, 3)[kept], np.array(shares)[kept] / max(1, len(codes))


def is_drawing(array):
    """Do a few colours cover nearly everything? In a photograph they do not, and rules cannot part its things."""
    codes = (array.reshape(-1, 3).astype(np.int32) >> 4) @ np.array([256, 16, 1])
    counts = np.sort(np.bincount(codes))[::-1]
    return bool(counts[:10].sum() > 0.8 * counts.sum())


def flat_in(array):
    """Where a pixel is like the ones to its left and above it; nearly everywhere in a drawing."""
    wide = array.astype(np.int16)
    flat = np.ones(array.shape[:2], bool)
    flat[:, 1:] &= np.abs(wide[:, 1:] - wide[:, :-1]).max(axis=2) < 14
    flat[1:] &= np.abs(wide[1:] - wide[:-1]).max(axis=2) < 14
    return flat


def nearest(array, palette):
    """For each pixel the index of the nearest colour of the palette."""
    best = np.zeros(array.shape[:2], np.int16)
    least = np.full(array.shape[:2], np.inf, np.float32)
    for index, colour in enumerate(palette):
        distance = ((array.astype(np.float32) - colour.astype(np.float32)) ** 2).sum(axis=2)
        closer = distance < least
        best[closer], least[closer] = index, distance[closer]
    return best


def inks_of(array, background, palette):
    """One mask for each colour of the palette: pixels that are at least half that colour, half background."""
    off = array.astype(np.float32) - background.astype(np.float32)
    best, least = np.full(array.shape[:2], -1), np.full(array.shape[:2], 70.0, np.float32)
    for index, colour in enumerate(palette):
        away = (colour - background).astype(np.float32)
        mix = (off @ away / (away @ away)).clip(0, 1)
        rest = np.linalg.norm(off - mix[..., None] * away, axis=2)
        closer = (rest < least) & (mix >= 0.45)
        best[closer], least[closer] = index, rest[closer]
    return [best == index for index in range(len(palette))]


def name_of(colour):
    """The everyday English name of an RGB colour."""
    hue, saturation, value = colorsys.rgb_to_hsv(*(float(part) / 255 for part in colour))
    hue *= 360
    if value < 0.2 or (saturation < 0.25 and value < 0.25):
        return "black"
    if saturation < 0.12 or (saturation < 0.2 and value < 0.5):
        return "white" if value > 0.9 else "grey"
    if hue < 45 and hue >= 8 and (value < 0.68 or (saturation < 0.5 and value < 0.8)) and saturation > 0.3:
        return "brown"
    if hue >= 345 or hue < 14:
        return "pink" if saturation < 0.5 and value > 0.75 else "red"
    if hue < 42:
        return "orange" if saturation > 0.4 else "beige"
    if hue < 70:
        return "yellow" if value > 0.6 else "olive"
    for limit, name in ((164, "green"), (196, "cyan"), (254, "blue"), (290, "purple")):
        if hue < limit:
            return name
    return "pink" if saturation < 0.6 or hue > 322 else "magenta"


ALIKE = {
    "pink": ("pink", "magenta"),
    "magenta": ("magenta", "pink", "purple"),
    "purple": ("purple", "magenta"),
    "yellow": ("yellow", "olive"),
    "green": ("green", "olive"),
    "orange": ("orange", "brown"),
    "cyan": ("cyan",),
    "blue": ("blue",),
}


def called(name, names):
    """Which of the names mean the wanted colour: the exact ones, else those that people mix up with it."""
    exact = [index for index, other in enumerate(names) if other == name]
    return exact or [index for index, other in enumerate(names) if other in ALIKE.get(name, (name,))]
