"""What stands for a picture when likeness is measured: our own descriptor, or what a network makes of it.

An index holds vectors of one describer, chosen when the first picture comes in (`index add --embed hf:NAME`); its name
is kept in the index, and pictures that are looked for are described by the same one. Copies are told by hashes with
either.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from pyvision.errors import ConfigError, MissingExtra
from pyvision.images.pixels import open_image
from pyvision.tools.perception.loading import Once, shared_loader
from pyvision.types import Picture

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

Describe: TypeAlias = "Callable[[Picture], NDArray[float32]]"  # a vector of length 1
OWN = ""  # the name of our own descriptor


def describer(name: str) -> Describe | None:
    """By its name, KIND:WHERE; None for our own, which `features_of` has at hand.

    Raises ConfigError; the network loads with its first picture.
    """
    if name == OWN:
        return None
    kind, _, where = name.partition(":")
    if kind not in DESCRIBERS or not where:
        known = ", ".join(f"{each}:NAME" for each in DESCRIBERS)
        raise ConfigError(
            f"--embed {name}: pictures are embedded by {known}, as in hf:openai/clip-vit-base-patch32"
        )
    return DESCRIBERS[kind](where)


def descriptor_of(database: sqlite3.Connection) -> str:
    """The name of the one whose vectors an index holds."""
    row = database.execute("SELECT value FROM about WHERE key = 'describer'").fetchone()
    return str(row[0]) if row else OWN


def _network(where: str) -> Describe:
    network = shared_loader(("embed", where), partial(_load, where))
    return partial(_features, network)


def _load(where: str) -> tuple[Any, Any]:
    """The network and what prepares pictures for it. Raises MissingExtra, and ConfigError where it is none."""
    for package in ("torch", "transformers"):
        try:
            import_module(package)
        except ModuleNotFoundError as error:
            raise MissingExtra(package, "vision") from error
    transformers = import_module("transformers")
    try:
        model = transformers.AutoModel.from_pretrained(where).eval()
        model.get_image_features  # noqa: B018 - what makes it one that embeds pictures
        return model, transformers.AutoImageProcessor.from_pretrained(where)
    except (OSError, ValueError, KeyError, TypeError, ImportError, RuntimeError, AttributeError) as error:
        why = " ".join(str(error).split())[:300] or type(error).__name__
        raise ConfigError(
            f"--embed hf:{where}: cannot be loaded as one that embeds pictures: {why}"
        ) from error


def _features(network: Once, picture: Picture) -> NDArray[float32]:
    from numpy import float32
    from numpy.linalg import norm

    torch: Any = import_module("torch")
    with network.held() as (model, prepare), torch.inference_mode():
        try:
            told = model.get_image_features(**prepare(images=open_image(picture), return_tensors="pt"))
        except (RuntimeError, ValueError, TypeError) as error:  # of torch, and no memory left
            raise ConfigError(f"the network failed: {' '.join(str(error).split())[:300]}") from error
    vector = getattr(told, "pooler_output", told)[0].float().cpu().numpy()
    found: NDArray[float32] = (vector / max(float(norm(vector)), 1e-12)).astype(float32)
    return found


DESCRIBERS: Mapping[str, Callable[[str], Describe]] = {"hf": _network}
