"""Publish the figures and images of a cell: matplotlib's backend, Pillow's viewer, PNG formatters.

Loaded by matplotlib as its backend, under the name in `BACKEND`.
"""

# IPython is typed only in part
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import base64
import functools
import hashlib
import os
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar

import matplotlib as mpl
import matplotlib.image as mpl_image
import numpy as np
from matplotlib.artist import Artist
from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.container import Container
from matplotlib.figure import Figure
from PIL import Image, ImageOps, ImageShow

from . import frames
from .images import rgb

BACKEND = f"module://{__name__}"
OMITTED = "application/x-omitted"
_SHOWN = "_shown_digest"
_SAVED = "_saved_since_shown"
_IMAGES = ("image/png", "image/jpeg", "image/webp", "image/gif")
_SHRINK_MARGIN = 0.9  # below the computed size, since small images compress slightly worse
_NOTE_CHARS = 250
_MAX_SAVED_SHOWN = 4  # figures that a cell saved and did not show; of others only the files are named


class FigureManager(FigureManagerBase):
    """Implements `fig.show()` and `plt.show()`."""

    most_pixels: ClassVar[int] = 16_000_000
    most_bytes: ClassVar[int] = 16 * 2**20
    saved: ClassVar[list[tuple[Figure, Path]] | None] = []  # by the current cell; None: not remembered

    def show(self) -> None:
        _publish(self.canvas.figure)

    @classmethod
    def pyplot_show(cls, *, block: bool | None = None) -> None:
        show_open_figures()


class FigureCanvas(FigureCanvasAgg):
    manager_class = FigureManager


class NotebookViewer(ImageShow.Viewer):
    """Implements `image.show()`."""

    def show(self, image: Image.Image, **options: Any) -> int:
        from IPython.display import display

        display(image)
        return 1


def show_open_figures() -> None:
    """Publish every open figure that changed since it was shown, and close them all."""
    from matplotlib import pyplot as plt

    for number in plt.get_fignums():
        _publish(plt.figure(number))
    plt.close("all")
    _show_saved_figures()


def _show_saved_figures() -> None:
    """Show what the cell has only saved: a figure for a model is in no file that it never sees."""
    if not FigureManager.saved:
        return
    last = {id(figure): (figure, path) for figure, path in FigureManager.saved}
    unshown = [figure for figure, _ in last.values() if getattr(figure, _SAVED)]
    for figure in unshown[:_MAX_SAVED_SHOWN]:
        _publish(figure)
    covered = {path.with_suffix("") for figure, path in last.values() if not getattr(figure, _SAVED)}
    rest = dict.fromkeys(str(path) for _, path in FigureManager.saved if path.with_suffix("") not in covered)
    FigureManager.saved = []
    if rest:
        files = ", ".join(rest)[:_NOTE_CHARS]
        _display_note(f"saved, and not shown: {files}; to see one, run display(Image.open(FILE))")


def install(shell: Any, figure_pixels: int, figure_bytes: int) -> None:
    """Make `shell` show figures and images through this module, and besides them only text."""
    from matplotlib import pyplot as plt

    FigureManager.most_pixels, FigureManager.most_bytes = figure_pixels, figure_bytes
    plt.switch_backend(BACKEND)
    Figure.savefig = _remember(Figure.savefig)  # type: ignore[method-assign]
    mpl_image.imread = _imread
    # Code written for scripts selects a file-only backend, with which plt.show() shows nothing.
    mpl.use = plt.switch_backend = _keep_backend
    ImageShow.register(NotebookViewer(), order=0)
    formatter = shell.display_formatter
    formatter.active_types = ["text/plain", "image/png", "image/jpeg", OMITTED]
    png = formatter.formatters["image/png"]
    png.for_type(Figure, lambda figure: (figure_png(figure), _regions(frames.figure_regions(figure))))
    png.for_type(Image.Image, lambda image: _with_regions(image, image_png(image, figure_pixels)))
    formatter.formatters["image/jpeg"].for_type(Image.Image, lambda image: None)
    shell.events.register("pre_execute", frames.start_cell)
    shell.events.register("post_execute", show_open_figures)


def allow_all_types(shell: Any) -> None:
    """Allow every MIME type, for a notebook."""
    shell.display_formatter.active_types = shell.display_formatter.format_types
    FigureManager.saved = None


def _remember(savefig: Any) -> Any:
    """Also remember what is saved to a file."""

    @functools.wraps(savefig)
    def save_and_remember(self: Figure, fname: Any, **options: Any) -> None:
        savefig(self, fname, **options)
        if FigureManager.saved is not None and isinstance(fname, str | os.PathLike):
            FigureManager.saved.append((self, Path(fname)))
            setattr(self, _SAVED, True)

    return save_and_remember


def _imread(fname: Any, format: str | None = None) -> Any:  # noqa: A002 - matplotlib's name
    """Read by the content, as Pillow does: a photo under a name that ends in .png is none to matplotlib."""
    if format is None and isinstance(fname, str | os.PathLike):
        with Image.open(fname) as image:
            format = str(image.format).lower()  # noqa: A001
    return _IMREAD(fname, format)


_IMREAD = mpl_image.imread


def _keep_backend(*arguments: Any, **options: Any) -> None:
    """Ignore a change of the backend."""


def figure_png(figure: Figure) -> bytes:
    """The figure as a PNG file, at a lower resolution if it would have too many pixels."""
    width, height = figure.get_size_inches()
    dpi = min(figure.dpi, (FigureManager.most_pixels / max(width * height, 0.01)) ** 0.5)
    data = _render(figure, dpi)
    setattr(figure, _SHOWN, hashlib.sha256(data).digest())
    setattr(figure, _SAVED, False)
    return data


def _render(figure: Figure, dpi: float) -> bytes:
    sink = BytesIO()
    figure.savefig(
        sink,
        format="png",
        dpi=dpi,
        bbox_inches="tight",
        facecolor=figure.get_facecolor(),
        pil_kwargs={"compress_level": 1},
    )
    return sink.getvalue()


def image_png(image: Image.Image, most_pixels: int) -> bytes | None:
    """The image as a PNG file, scaled down to the limits."""
    if not (image.width and image.height):
        _display_note(f"image of {image.width}x{image.height} pixels not shown: it is empty")
        return None
    data, scaled_size = _fit(image, most_pixels)
    if scaled_size != image.size:
        size, limit = (
            f"{image.width}x{image.height}",
            f"{most_pixels} pixels, {FigureManager.most_bytes} bytes",
        )
        _display_note(
            f"the image of {size} pixels is shown at {scaled_size[0]}x{scaled_size[1]}: the limits are {limit}"
        )
    return data


def convert_to_png(data: dict[str, Any]) -> dict[str, Any]:
    """Convert the image of display data to PNG, the only type that the host accepts."""
    mime = next((kind for kind in _IMAGES if data.get(kind)), None)
    if mime is None:
        return data
    try:
        file = data[mime] if isinstance(data[mime], bytes) else base64.b64decode(data[mime])
        if mime == "image/png" and _is_plain(file):
            return data
        image: dict[str, Any] = {"image/png": _fitting_png(file)}
    except Exception as error:  # noqa: BLE001 - decoders raise anything, and displaying must not fail a cell
        image = {OMITTED: f"{mime} not shown: {type(error).__name__}: {error}"[:_NOTE_CHARS]}
    return {kind: value for kind, value in data.items() if kind not in _IMAGES} | image


def _scale(image: Image.Image, most_pixels: int) -> tuple[int, int]:
    """The largest size of the same shape within the limit."""
    scale = min(1.0, (most_pixels / (image.width * image.height)) ** 0.5)
    return max(1, int(image.width * scale)), max(1, int(image.height * scale))


def digest(data: dict[str, Any]) -> bytes | None:
    """What identifies the image in display data; None if there is none."""
    image = next((data[kind] for kind in _IMAGES if data.get(kind)), None)
    if image is None:
        return None
    return hashlib.sha256(image if isinstance(image, bytes) else base64.b64decode(image)).digest()


def without_image(data: dict[str, Any]) -> dict[str, Any]:
    """Display data with a note in place of its image."""
    note = {OMITTED: "the same image as before in this cell, not sent again"}
    return {kind: value for kind, value in data.items() if kind not in _IMAGES} | note


def is_drawn(value: Any, levels: int = 3) -> bool:
    """Whether it is only what matplotlib has drawn: a line, axes, a list of bars. A figure itself is shown instead."""
    if isinstance(value, Artist | Container):
        return not isinstance(value, Figure)
    if isinstance(value, np.ndarray):
        value = list(value.flat) if value.dtype == object else None
    if type(value) not in (list, tuple) or not value or not levels:
        return False
    return all(isinstance(each, Figure) or is_drawn(each, levels - 1) for each in value)


def _is_plain(file: bytes) -> bool:
    """Whether it is a PNG file without interlacing and within the pixel limit."""
    width, height = _size(file)
    return file[28:29] == b"\0" and width * height <= FigureManager.most_pixels


def _fitting_png(file: bytes) -> bytes:
    """The image of a file as PNG, rotated as its EXIF says, and scaled down to the limits."""
    with Image.open(BytesIO(file)) as image:
        if image.mode == "RGB":  # a large photo is then decoded at a lower resolution
            image.thumbnail(_scale(image, FigureManager.most_pixels))
        return _fit(ImageOps.exif_transpose(image), FigureManager.most_pixels)[0]


def _fit(image: Image.Image, most_pixels: int) -> tuple[bytes, tuple[int, int]]:
    """The image as a PNG file within the limits, and the size at which it is in it."""
    while True:
        if image.width * image.height > most_pixels:
            size = _scale(image, most_pixels)
            image = rgb(image).resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)
        data = _encode(image)
        if len(data) <= FigureManager.most_bytes:
            return data, image.size
        most_pixels = int(image.width * image.height * _SHRINK_MARGIN * FigureManager.most_bytes / len(data))


def _encode(image: Image.Image) -> bytes:
    sink = BytesIO()
    rgb(image).save(sink, format="PNG", compress_level=1)
    return sink.getvalue()


def _publish(figure: Figure) -> None:
    from IPython.display import display

    before = getattr(figure, _SHOWN, None)
    data = figure_png(figure)
    if before != getattr(figure, _SHOWN):
        metadata = {"image/png": _regions(frames.figure_regions(figure))}
        display({"image/png": data, "text/plain": repr(figure)}, metadata=metadata, raw=True)


def _with_regions(image: Image.Image, data: bytes | None) -> tuple[bytes, dict[str, Any]] | None:
    """The file of an image, and where it lies in its original."""
    return (data, _regions(frames.image_regions(image, _size(data)))) if data else None


def _regions(regions: list[dict[str, Any]]) -> dict[str, Any]:
    return {"regions": regions}


def _size(png: bytes) -> tuple[int, int]:
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


def _display_note(note: str) -> None:
    from IPython.display import display

    display({OMITTED: note, "text/plain": note}, raw=True)
