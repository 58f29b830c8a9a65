"""An index whose images are embedded by a network instead of the built-in descriptor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pyvision.errors import ConfigError
from pyvision.tools.retrieval import image_features
from pyvision.tools.retrieval.building import IndexProgress, add
from pyvision.tools.retrieval.search import Index
from pyvision.types import Picture
from tests.tools.retrieval.collection import drawing, flag, picture


def add_embedded(index: Path, root: Path, embed: str | None) -> IndexProgress:
    return add(index, [root], lambda line: None, lambda done, whole: None, embed)


def by_width(where: str) -> image_features.Embed:
    """Three numbers that tell wide pictures from high ones, and nothing else."""
    from numpy import array, float32
    from numpy.linalg import norm

    def embed(picture: Picture) -> Any:
        vector = array([picture.width, picture.height, float(where)])
        return (vector / norm(vector)).astype(float32)

    return embed


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(image_features, "EMBEDDERS", {**image_features.EMBEDDERS, "width": by_width})
    folder = tmp_path / "pictures"
    folder.mkdir()
    drawing(1, (300, 100)).save(folder / "wide.png")
    drawing(2, (100, 300)).save(folder / "high.png")
    return folder


def test_similarity_is_that_of_the_embedder(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    add_embedded(path, folder, "width:1")
    index = Index(path)
    assert index.info().embedder == "width:1"
    assert [hit.title for hit in index.similar(picture(flag("red", "blue").resize((90, 270))))] == [
        "high",
        "wide",
    ]
    assert index.identical(picture(drawing(1, (300, 100))))[0].title == "wide"


def test_later_images_use_the_embedder_of_the_first(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    add_embedded(path, folder, "width:1")
    drawing(3, (200, 200)).save(folder / "square.png")
    assert add_embedded(path, folder, None).added == 1
    assert Index(path).similar(picture(flag("red").resize((50, 50))))[0].title == "square"


def test_an_index_has_one_embedder(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    add_embedded(path, folder, None)
    with pytest.raises(
        ConfigError, match="use colours and gradients, without an embedder; give another file"
    ):
        add_embedded(path, folder, "width:1")
    other = tmp_path / "other.sqlite"
    add_embedded(other, folder, "width:1")
    with pytest.raises(ConfigError, match="use the embedder width:1"):
        add_embedded(other, folder, "width:2")


@pytest.mark.parametrize("name", ["clip", "hf", "hf:", "other:x"])
def test_an_unknown_embedder_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="unknown embedder; give hf:NAME"):
        image_features.load_embedder(name)


@pytest.mark.vision
def test_a_network_embeds_images(folder: Path, tmp_path: Path) -> None:
    from tests.tools.perception.tiny_networks import matcher

    path = tmp_path / "index.sqlite"
    matcher(tmp_path / "clip")
    add_embedded(path, folder, f"hf:{tmp_path / 'clip'}")
    found = Index(path).similar(picture(drawing(1, (300, 100))))
    assert (found[0].title, round(found[0].score, 2)) == ("wide", 1.0)


@pytest.mark.vision
def test_a_folder_without_a_network_is_refused(folder: Path, tmp_path: Path) -> None:
    embed = image_features.load_embedder(f"hf:{tmp_path}")
    assert embed is not None
    with pytest.raises(ConfigError, match="cannot be loaded as a network that embeds images"):
        embed(picture(drawing(1)))
