"""Copy image files into the folder that a container sees; only the guest decodes them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from sandbox.errors import ImageError

ImageSource: TypeAlias = str | Path | bytes


class ImageFolder:
    """The images of one session, by the name that cells use. Adding a name again replaces its image."""

    def __init__(self, folder: Path, guest_folder: str) -> None:
        self.folder = folder
        self._guest_folder = guest_folder  # where the kernel finds the same folder
        self._count = 0
        self._files: dict[str, str] = {}  # name -> path in the container

    def add(self, images: Mapping[str, ImageSource]) -> dict[str, str]:
        """Copy the images and return their paths in the container by name. Raises ImageError; then none is added."""
        sources = {_check_name(name): _read(name, source) for name, source in images.items()}
        return {name: self._write(name, data) for name, data in sources.items()}

    def keep(self, files: Mapping[str, str]) -> None:
        """Remember the files that the kernel has accepted, to load them again after a restart."""
        self._files.update(files)

    @property
    def files(self) -> dict[str, str]:
        return dict(self._files)

    def _write(self, name: str, data: bytes) -> str:
        path = self.folder / str(self._count)
        self._count += 1
        try:
            path.write_bytes(data)
        except OSError as error:
            raise ImageError(
                f"{name}: cannot be copied to {path}: {error.strerror}; free space there"
            ) from error
        path.chmod(0o644)  # the folder above is private; the user inside the container is another one
        return f"{self._guest_folder}/{path.name}"


def _check_name(name: str) -> str:
    if not name.isidentifier() or name.startswith("__"):
        raise ImageError(f"{name!r} cannot name an image; use a Python name such as image_clue_0")
    return name


def _read(name: str, source: ImageSource) -> bytes:
    if isinstance(source, bytes):
        return source
    path = Path(source)
    if not path.is_file():
        what = "is no file" if path.exists() else "does not exist"
        raise ImageError(f"{name}: {source} {what}; give the path of an image file")
    try:
        return path.read_bytes()
    except OSError as error:
        raise ImageError(f"{name}: {path} cannot be read: {error.strerror}") from error
