"""Verify the figures that a cell shows or passes to host functions, within limits for all of them together.

A figure is bytes made by untrusted code. A valid file is rebuilt from the parts that hold its pixels, so that every
decoder sees the same image, of the size in `Figure`.
"""

from __future__ import annotations

from sandbox.policy import Policy
from sandbox.protocol import jpeg, png
from sandbox.protocol.png import InvalidImage
from sandbox.results import Figure

SHOWN_BYTES_PER_PIXEL = 16  # what all figures of one cell may inflate to, per pixel of Policy.figure_pixels


class FigureReader:
    """Verifies the figures of one cell. Bytes are counted before pixels, and pixels before anything is inflated."""

    def __init__(self, policy: Policy, inflated_bytes: int) -> None:
        self._policy = policy
        self._left = inflated_bytes

    def read_png(self, data: bytes) -> Figure:
        """Verify a PNG file. Raises InvalidImage."""
        self.check_bytes(len(data))
        header = png.read_header(data, self._policy.figure_pixels)
        if header.raw_bytes > self._left:
            raise InvalidImage(
                f"of {header.width}x{header.height} pixels: this cell has shown too many already"
            )
        self._left -= header.raw_bytes
        return Figure(png.rebuild(data, header), "image/png", header.width, header.height)

    def read(self, data: bytes) -> Figure:
        """Verify a PNG or JPEG file. Raises InvalidImage."""
        if data.startswith(png.SIGNATURE):
            return self.read_png(data)
        if not data.startswith(jpeg.SIGNATURE):
            raise InvalidImage("that is not a PNG or JPEG file")
        self.check_bytes(len(data))
        rebuilt, width, height = jpeg.rebuild(data, self._policy.figure_pixels)
        return Figure(rebuilt, "image/jpeg", width, height)

    def check_bytes(self, count: int) -> None:
        """Raises InvalidImage for a file of more bytes than the policy allows."""
        if count > self._policy.figure_bytes:
            raise InvalidImage(f"of {count} bytes: the limit is {self._policy.figure_bytes}; make it smaller")
