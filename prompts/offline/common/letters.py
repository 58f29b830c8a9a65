# Find capital letters drawn in a picture, by comparing components with rendered letters.
from pathlib import Path

import matplotlib
from PIL import ImageDraw, ImageFont

FONTS = (
    "DejaVuSans-Bold",
    "DejaVuSans",
    "DejaVuSerif-Bold",
    "DejaVuSerif",
    "DejaVuSansMono-Bold",
    "STIXGeneralBol",
)


def glyph(mask):
    """A mask cropped to its ink, at one common size, softened; with its width over its height."""
    rows, columns = np.nonzero(mask.any(axis=1))[0], np.nonzero(mask.any(axis=0))[0]
    cut = mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    small = Image.fromarray((cut * 255).astype(np.uint8)).resize((20, 24), 4)
    soft = np.pad(np.asarray(small, float), 1)
    soft = (soft[:-2] + 2 * soft[1:-1] + soft[2:])[:, 1:-1] / 4
    return soft - soft.mean(), cut.shape[1] / cut.shape[0]


def alphabet():
    """(letter, glyph, proportion) for every capital letter in a few fonts that come with matplotlib."""
    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    drawn = []
    for name in FONTS:
        path = folder / f"{name}.ttf"
        if not path.exists():
            continue
        font = ImageFont.truetype(str(path), 72)
        for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ":
            page = Image.new("L", (160, 160))
            ImageDraw.Draw(page).text((30, 30), letter, font=font, fill=255)
            drawn.append((letter, *glyph(np.asarray(page) > 127)))
    return drawn


def read_letter(mask, letters):
    """The letter that a mask looks most like, and how much (1 is the same)."""
    best, score = "?", 0.0
    soft, proportion = glyph(mask)
    for letter, other, usual in letters:
        if not 0.7 < proportion / usual < 1.43:
            continue
        likeness = (soft * other).sum() / np.sqrt((soft**2).sum() * (other**2).sum() + 1e-9)
        if likeness > score:
            best, score = letter, float(likeness)
    return best, score


def letters_in(masks, least=0.82):
    """(letter, score, box, index of its mask) for each component that looks like a capital letter."""
    letters, found = alphabet(), []
    for index, mask in enumerate(masks):
        labels, n = label(mask)
        box = boxes(labels, n)
        height, width = box[:, 3] - box[:, 1] + 1, box[:, 2] - box[:, 0] + 1
        likely = (height >= 7) & (height < 0.2 * len(mask)) & (width < 0.2 * mask.shape[1]) & (width > 2)
        for number in np.nonzero(likely)[0][:200]:
            left, top, right, bottom, _ = box[number]
            letter, score = read_letter(labels[top : bottom + 1, left : right + 1] == number + 1, letters)
            if score >= least:
                found.append((letter, score, (int(left), int(top), int(right), int(bottom)), index))
    return found
