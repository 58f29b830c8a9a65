"""A 12-megapixel photo: into a variable, and through a whole job."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from benchmarks.sandbox.measure import Measure, in_turns, medians, milliseconds
from benchmarks.sandbox.plain import PlainKernel
from benchmarks.sandbox.setting import Setting, checked

_WIDTH, _HEIGHT = 4000, 3000
_SEED = 20260101
_NAME = "image_clue_0"
_READ = f"{_NAME}.getpixel((2000, 1500))"  # makes a lazy image decode its file
_CROP = f"""
from PIL import ImageEnhance
import matplotlib.pyplot as plt
crop = {_NAME}.crop((1000, 800, 2200, 1700))
sharper = ImageEnhance.Contrast(crop).enhance(1.8)
plt.imshow(sharper)
plt.show()
"""
_MORE = "print(sharper.size, crop.size == sharper.size)"
_SAID = "(1200, 900) True\n"


def define(setting: Setting) -> list[Measure]:
    """From a path to a variable, and to a pixel of it; the plain kernel opens the path itself."""
    opened = _open(setting.picture)
    with setting.sandbox.open() as session, PlainKernel() as kernel:
        kernel.run(opened)
        ours, plain, ours_read, plain_read = medians(
            in_turns(
                setting.effort.rounds,
                lambda: milliseconds(lambda: session.define({_NAME: setting.picture})),
                lambda: milliseconds(lambda: kernel.run(opened)),
                lambda: milliseconds(lambda: checked(session.run(_READ))),
                lambda: milliseconds(lambda: kernel.run(_READ)),
            )
        )
    return [
        Measure("12-megapixel JPEG, defined", "ms", ours, plain, "< 10"),
        Measure("12-megapixel JPEG, defined and a pixel read", "ms", ours + ours_read, plain + plain_read),
    ]


def crop_and_show(setting: Setting) -> list[Measure]:
    """Open, crop, contrast, a figure out, a second cell that uses the first, close."""
    ours, plain = in_turns(
        setting.effort.rounds,
        lambda: milliseconds(lambda: _job(setting)),
        lambda: milliseconds(lambda: _plain_job(setting.picture)),
    )
    return [
        Measure("12-megapixel JPEG, whole crop-and-show job", "ms", median(ours), median(plain), "< 0.4 x")
    ]


def make_picture(folder: Path) -> Path:
    """A JPEG of about 4 MB, the same each time: soft shapes of many sizes under fine grain, as in photos."""
    import numpy as np
    from PIL import Image

    noise = np.random.default_rng(_SEED)
    pixels = noise.normal(0, 9, (_HEIGHT, _WIDTH, 1)).astype(np.float32) + 128
    for cells in (4, 16, 64, 256):
        coarse = noise.uniform(0, 255, (cells * 3 // 4, cells, 3)).astype(np.uint8)
        soft = Image.fromarray(coarse).resize((_WIDTH, _HEIGHT), Image.Resampling.BICUBIC)
        pixels = pixels + (np.asarray(soft, np.float32) - 128) * (2 / cells**0.5)
    path = folder / "photo.jpg"
    Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(path, quality=88)
    return path


def _open(picture: Path) -> str:
    return f"from PIL import Image\n{_NAME} = Image.open({str(picture)!r})"


def _job(setting: Setting) -> None:
    with setting.sandbox.open({_NAME: setting.picture}) as session:
        shown, said = checked(session.run(_CROP)), checked(session.run(_MORE))
    _expect(len(shown.figures), said.text)


def _plain_job(picture: Path) -> None:
    with PlainKernel() as kernel:
        shown, said = kernel.run(_open(picture) + _CROP), kernel.run(_MORE)
    _expect(len(shown.figures), said.text)


def _expect(figures: int, said: str) -> None:
    if (figures, said) != (1, _SAID):
        raise RuntimeError(f"the job showed {figures} figures and said {said!r}, not 1 and {_SAID!r}")
