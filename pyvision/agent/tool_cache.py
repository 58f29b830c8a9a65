"""What the tools of one question have answered, so that an identical request is answered without asking again.

Covered: tools that say `is_repeatable = True`. Identical means the same tool, text, options and image file; failures
are tried again. An image of the question that comes back from the kernel is replaced by the user's file: the kernel
sends pixels, and a photo would otherwise reach the model as a PNG, or compressed a second time.
Not covered: a tool with state, which says nothing; a part of an image, which is sent as the kernel encodes it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from pyvision.errors import ImageError
from pyvision.images.encode import jpeg
from pyvision.images.pixels import file_hash, open_image
from pyvision.types import Observation, Picture, Tool, ToolRequest

_KERNEL_QUALITY, _KERNEL_COLOURS = 95, "4:4:4"  # of the JPEG in which a kernel sends a large image


class ToolCache:
    """The observations of one question. originals: its images, as the user gave them."""

    def __init__(self, originals: Sequence[Picture]) -> None:
        self._originals = originals
        self._restored: dict[str, Picture] = {}  # hash of what the kernel sent -> what stands for it
        self._known: dict[str, Observation] = {}

    def restore(self, request: ToolRequest) -> ToolRequest:
        """The request with the user's own file, if its image is one of the question's."""
        picture = request.picture
        if picture is None:
            return request
        sent = file_hash(picture)
        if sent not in self._restored:
            same = (each for each in self._originals if _is_sent_as(each, picture))
            self._restored[sent] = next(same, picture)
        restored = self._restored[sent]
        return request if restored is picture else replace(request, picture=restored)

    def find(self, tool: Tool, request: ToolRequest) -> Observation | None:
        """The observation of an identical request before; None if there is none."""
        key = _key(tool, request)
        return None if key is None else self._known.get(key)

    def keep(self, tool: Tool, request: ToolRequest, observation: Observation) -> None:
        """Remember what a repeatable tool answered."""
        key = _key(tool, request)
        if key is not None and observation.error is None:
            self._known[key] = observation


def _key(tool: Tool, request: ToolRequest) -> str | None:
    """Equal for identical requests; None for a tool that may answer differently, or options that are not plain."""
    if not getattr(tool, "is_repeatable", False):
        return None
    image = request.picture and file_hash(request.picture)
    try:
        return json.dumps([tool.name, request.text, image, dict(request.options)], sort_keys=True)
    except (TypeError, ValueError):
        return None


def _is_sent_as(original: Picture, picture: Picture) -> bool:
    """Whether a kernel sends this image as that picture: the same pixels, or those of its JPEG."""
    if (original.width, original.height) != (picture.width, picture.height):
        return False
    if original.data == picture.data:
        return True
    try:
        decoded = open_image(original).convert("RGB")
        if picture.mime == "image/jpeg":
            return jpeg(decoded, _KERNEL_QUALITY, _KERNEL_COLOURS) == picture.data
        return decoded.tobytes() == open_image(picture).convert("RGB").tobytes()
    except ImageError:
        return False
