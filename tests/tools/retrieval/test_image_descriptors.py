"""An index whose pictures are described by something else than our own descriptor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pyvision.errors import ConfigError
from pyvision.tools.retrieval import image_descriptors
from pyvision.tools.retrieval.building import add
from pyvision.tools.retrieval.entries import Counts
from pyvision.tools.retrieval.search import Index
from pyvision.types import Picture
from tests.tools.retrieval.collection import drawing, flag, picture


def embedded(index: Path, root: Path, embed: str | None) -> Counts:
    return add(index, [root], lambda line: None, lambda done, whole: None, embed)


def by_width(where: str) -> image_descriptors.Describe:
    """Three numbers that tell wide pictures from high ones, and nothing else."""
    from numpy import array, float32
    from numpy.linalg import norm

    def describe(picture: Picture) -> Any:
        vector = array([picture.width, picture.height, float(where)])
        return (vector / norm(vector)).astype(float32)

    return describe


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(image_descriptors, "DESCRIBERS", {**image_descriptors.DESCRIBERS, "width": by_width})
    folder = tmp_path / "pictures"
    folder.mkdir()
    drawing(1, (300, 100)).save(folder / "wide.png")
    drawing(2, (100, 300)).save(folder / "high.png")
    return folder


def test_likeness_is_the_describers_and_is_kept_in_the_index(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    embedded(path, folder, "width:1")
    index = Index(path)
    assert index.info().describer == "width:1"
    assert [hit.title for hit in index.similar(picture(flag("red", "blue").resize((90, 270))))] == [
        "high",
        "wide",
    ]
    assert index.identical(picture(drawing(1, (300, 100))))[0].title == "wide"


def test_more_pictures_are_described_as_the_first_ones_were(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    embedded(path, folder, "width:1")
    drawing(3, (200, 200)).save(folder / "square.png")
    assert embedded(path, folder, None).added == 1
    assert Index(path).similar(picture(flag("red").resize((50, 50))))[0].title == "square"


def test_an_index_has_one_describer(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    embedded(path, folder, None)
    with pytest.raises(ConfigError, match="describes pictures by colours and gradients; give another file"):
        embedded(path, folder, "width:1")
    other = tmp_path / "other.sqlite"
    embedded(other, folder, "width:1")
    with pytest.raises(ConfigError, match="embeds pictures by width:1"):
        embedded(other, folder, "width:2")


@pytest.mark.parametrize("name", ["clip", "hf", "hf:", "other:x"])
def test_a_name_of_none_says_how_to_name_one(name: str) -> None:
    with pytest.raises(ConfigError, match="embedded by hf:NAME"):
        image_descriptors.describer(name)


@pytest.mark.vision
def test_a_network_embeds_pictures(folder: Path, tmp_path: Path) -> None:
    from tests.tools.perception.tiny_networks import matcher

    path = tmp_path / "index.sqlite"
    matcher(tmp_path / "clip")
    embedded(path, folder, f"hf:{tmp_path / 'clip'}")
    found = Index(path).similar(picture(drawing(1, (300, 100))))
    assert (found[0].title, round(found[0].score, 2)) == ("wide", 1.0)


@pytest.mark.vision
def test_a_folder_without_a_network_is_named(folder: Path, tmp_path: Path) -> None:
    describe = image_descriptors.describer(f"hf:{tmp_path}")
    assert describe is not None
    with pytest.raises(ConfigError, match="cannot be loaded as one that embeds pictures"):
        describe(picture(drawing(1)))
