"""Call host functions from a cell: `host.detect(image_clue_0, "cat")`.

Values are sent as JSON with buffers: bytes are {"__bytes__": n}, the n-th buffer, and images {"__picture__": n}.
{"__float__": "nan"} is a number that JSON lacks, {"__int__": "0x…"} one that JSON readers do not agree on, and
{"__dict__": [[key, value], …]} a dictionary that would be mistaken for one of these. On the host
`sandbox/protocol/values.py` reads and writes them, and `sandbox/protocol/rpc.py` answers the calls.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterable
from io import BytesIO
from typing import Any, TypeAlias

Content: TypeAlias = dict[str, Any]
Send: TypeAlias = Callable[[Content, list[bytes]], None]
Receive: TypeAlias = Callable[[], tuple[Content, list[bytes]]]

_SPECIAL = ("__bytes__", "__picture__", "__float__", "__int__", "__dict__")
_PLAIN_INT = 2**53
_LEVELS = 30
_LOSSLESS_PIXELS = 2_000_000  # as PNG; larger images would take most of a second
_JPEG_QUALITY = 95


class HostError(Exception):
    """A call of a host function failed. The message is one line that names the function and the reason."""


class UnknownFunction(HostError, AttributeError):  # noqa: N818 - it names what is unknown
    """The host has no function of this name."""


class Host:
    """The host functions, as attributes.

    `send` sends a request, `receive` waits for the next reply; both may raise KeyboardInterrupt.
    """

    def __init__(self, names: Iterable[str], send: Send, receive: Receive) -> None:
        self._names = tuple(names)
        self._send = send
        self._receive = receive
        self._lock = threading.Lock()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in self._names:
            known = ", ".join(self._names) or "none"
            raise UnknownFunction(f"the host has no function {name!r}; it has: {known}")

        def call(*arguments: Any, **options: Any) -> Any:
            return self._call(name, arguments, options)

        call.__name__ = call.__qualname__ = name
        return call

    def __dir__(self) -> list[str]:
        return list(self._names)

    def __repr__(self) -> str:
        return f"<host functions: {', '.join(self._names) or 'none'}>"

    def _call(self, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        buffers: list[bytes] = []
        request = {
            "call": os.urandom(8).hex(),
            "function": name,
            "args": [
                _encode_argument(each, f"argument {at} of {name}", buffers)
                for at, each in enumerate(arguments, 1)
            ],
            "kwargs": {
                key: _encode_argument(each, f"{key} of {name}", buffers) for key, each in options.items()
            },
        }
        reply, returned = self._send_request(request, buffers)
        if "error" in reply:
            raise HostError(reply["error"])
        return decode(reply["value"], returned)

    def _send_request(self, request: Content, buffers: list[bytes]) -> tuple[Content, list[bytes]]:
        with self._lock:
            self._send(request, buffers)
            while True:
                reply, returned = self._receive()
                # Skip the reply of an earlier call that was interrupted.
                if reply.get("call") == request["call"]:
                    return reply, returned


def _encode_argument(value: object, what: str, buffers: list[bytes]) -> Any:
    try:
        return encode(value, buffers)
    except _NotPlain as reason:
        raise HostError(f"{what}: {reason}") from None


class _NotPlain(Exception):  # noqa: N818 - it says what a value is
    """A value that cannot be sent to the host."""


def encode(value: Any, buffers: list[bytes], level: int = 0) -> Any:
    """The JSON for a value; its bytes and images are added to `buffers`. Raises _NotPlain."""
    if level > _LEVELS:
        raise _NotPlain(f"nested deeper than {_LEVELS} levels; flatten it")
    match value:
        case None | bool():
            return value
        case int():
            return int(value) if abs(value) < _PLAIN_INT else {"__int__": hex(value)}
        case float():
            return float(value) if math.isfinite(value) else {"__float__": repr(float(value))}
        case str():
            return _text(value)
        case bytes() | bytearray() | memoryview():
            return {"__bytes__": _append_buffer(bytes(value), buffers)}
        case list() | tuple():
            return [encode(each, buffers, level + 1) for each in value]
        case dict():
            return _dictionary(value, buffers, level)
    return _foreign(value, buffers, level)


def decode(value: Any, buffers: list[bytes]) -> Any:
    """Decode a value of the host. Images become PIL images."""
    match value:
        case {"__bytes__": int(at)}:
            return buffers[at]
        case {"__picture__": int(at)}:
            return _decode_image(buffers[at])
        case {"__float__": str(text)}:
            return float(text)
        case {"__int__": str(digits)}:
            return int(digits, 16)
        case {"__dict__": list(pairs)}:
            return {key: decode(each, buffers) for key, each in pairs}
        case dict():
            return {key: decode(each, buffers) for key, each in value.items()}
        case list():
            return [decode(each, buffers) for each in value]
    return value


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise _NotPlain("text with half a surrogate pair; encode it to bytes") from None
    return str.__str__(value)  # the value of an enum member, not its name


def _append_buffer(data: bytes, buffers: list[bytes]) -> int:
    buffers.append(data)
    return len(buffers) - 1


def _dictionary(value: dict[Any, Any], buffers: list[bytes], level: int) -> Any:
    for key in value:
        if not isinstance(key, str):
            raise _NotPlain(f"a dictionary with a key of type {type(key).__name__}; only text can be a key")
    pairs = [[_text(key), encode(each, buffers, level + 1)] for key, each in value.items()]
    if any(key in _SPECIAL for key in value):
        return {"__dict__": pairs}
    return dict(pairs)


def _foreign(value: Any, buffers: list[bytes], level: int) -> Any:
    """Encode images, and numbers and arrays of numpy."""
    import numpy as np
    from PIL import Image

    if isinstance(value, Image.Image):
        return {"__picture__": _append_buffer(_encode_image(value), buffers)}
    if isinstance(value, np.generic):
        return encode(value.item(), buffers, level + 1)
    if isinstance(value, np.ndarray):
        return {"__picture__": _append_buffer(_encode_image(_convert_array(value)), buffers)}
    kind = type(value).__name__
    raise _NotPlain(
        f"a value of type {kind}; only plain values, lists, dictionaries and images go to the host"
    )


def _convert_array(array: Any) -> Any:
    from PIL import Image

    is_picture = array.ndim == 2 or (array.ndim == 3 and array.shape[2] in (3, 4))
    if not (is_picture and array.size and array.dtype.name in ("uint8", "bool")):
        shape = "x".join(map(str, array.shape))
        raise _NotPlain(
            f"an array {shape} of {array.dtype} is no picture; make it uint8 HxW or HxWx3, or use .tolist()"
        )
    return Image.fromarray(array.astype("uint8") * (255 if array.dtype.name == "bool" else 1))


def _encode_image(image: Any) -> bytes:
    """PNG; JPEG of high quality if the image is large and opaque."""
    from .images import rgb

    if not (image.width and image.height):
        raise _NotPlain(f"a picture of {image.width}x{image.height} pixels is empty")
    saved = image if image.mode in ("L", "RGB", "RGBA") else rgb(image)
    sink = BytesIO()
    if saved.mode == "RGB" and saved.width * saved.height > _LOSSLESS_PIXELS:
        saved.save(sink, "JPEG", quality=_JPEG_QUALITY, subsampling=0)
    else:
        saved.save(sink, "PNG", compress_level=1)
    return sink.getvalue()


def _decode_image(data: bytes) -> Any:
    from PIL import Image

    with Image.open(BytesIO(data)) as image:
        return image.copy()  # without the file it came from
