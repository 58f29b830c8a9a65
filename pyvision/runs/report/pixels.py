"""The pixels of a picture as numbers, for comparing pictures."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from pyvision.images.read import decode
from pyvision.types import Picture

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def pixels_of(picture: Picture) -> NDArray[np.uint8]:
    """Shape (height, width, 3), red green blue, 0 to 255; what is transparent lies on white. Raises ImageError."""
    import numpy as np
    from matplotlib.image import imread

    plain = decode(picture.data, "of the run")
    read = np.asarray(imread(BytesIO(plain.data), format=plain.mime.removeprefix("image/")))
    whole = read if read.dtype == np.uint8 else np.rint(read * 255).astype(np.uint8)
    return np.stack([whole] * 3, axis=-1) if whole.ndim == 2 else np.ascontiguousarray(whole[..., :3])
