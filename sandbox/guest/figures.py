"""Publish the figures and images of a cell: matplotlib's backend, Pillow's viewer, PNG formatters.

Loaded by matplotlib as its backend, under the name in `BACKEND`.
"""

# IPython is typed only in part
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import base64
import hashlib
from io import BytesIO
from typing import Any, ClassVar

import matplotlib as mpl
from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image, ImageOps, ImageShow

from . import frames
from .images import rgb

BACKEND = f"module://{__name__}"
OMITTED = "application/x-omitted"
_SHOWN = "_shown_digest"
_IMAGES = ("image/png", "image/jpeg", "image/webp", "image/gif")
_SHRINK_MARGIN = 0.9  # below the computed size, since small images compress slightly worse
_NOTE_CHARS = 250


class FigureManager(FigureManagerBase):
    """Implements `fig.show()` and `plt.show()`."""

    most_pixels: ClassVar[int] = 16_000_000
    most_bytes: ClassVar[int] = 16 * 2**20

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


def install(shell: Any, figure_pixels: int, figure_bytes: int) -> None:
    """Make `shell` show figures and images through this module, and besides them only text."""
    from matplotlib import pyplot as plt

    FigureManager.most_pixels, FigureManager.most_bytes = figure_pixels, figure_bytes
    plt.switch_backend(BACKEND)
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


def _keep_backend(*arguments: Any, **options: Any) -> None:
    """Ignore a change of the backend."""


def figure_png(figure: Figure) -> bytes:
    """The figure as a PNG file, at a lower resolution if it would have too many pixels."""
    width, height = figure.get_size_inches()
    dpi = min(figure.dpi, (FigureManager.most_pixels / max(width * height, 0.01)) ** 0.5)
    data = _render(figure, dpi)
    setattr(figure, _SHOWN, hashlib.sha256(data).digest())
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
    if image.width * image.height > most_pixels:
        size = f"{image.width}x{image.height}"
        _display_note(f"image of {size} pixels not shown: the limit is {most_pixels}; show a smaller one")
        return None
    return _encode(image)


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


def _is_plain(file: bytes) -> bool:
    """Whether it is a PNG file without interlacing and within the pixel limit."""
    width, height = _size(file)
    return file[28:29] == b"\0" and width * height <= FigureManager.most_pixels


def _fitting_png(file: bytes) -> bytes:
    """The image of a file as PNG, rotated as its EXIF says, and scaled down to the limits."""
    with Image.open(BytesIO(file)) as image:
        most = FigureManager.most_pixels
        while True:
            scale = min(1.0, (most / (image.width * image.height)) ** 0.5)
            image.thumbnail((max(1, int(image.width * scale)), max(1, int(image.height * scale))))
            data = _encode(ImageOps.exif_transpose(image))
            if len(data) <= FigureManager.most_bytes:
                return data
            most = int(image.width * image.height * _SHRINK_MARGIN * FigureManager.most_bytes / len(data))


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
