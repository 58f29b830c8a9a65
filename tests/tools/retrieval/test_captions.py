from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.tools.retrieval.readers import records_in
from pyvision.tools.retrieval.search import Hit, Index
from tests.tools.retrieval.collection import add_quietly, drawing, picture, write_records


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "collection"
    made.mkdir()
    drawing(1).save(made / "one.png")
    return made


def find_image(folder: Path, *roots: Path) -> Hit:
    """The hit for the image, after indexing the folder or these roots."""
    index = folder.parent / "index.sqlite"
    add_quietly(index, *(roots or (folder,)))
    (hit,) = Index(index).identical(picture(drawing(1)))
    return hit


def test_an_image_without_a_caption_is_named_by_its_file(folder: Path) -> None:
    assert (find_image(folder).title, find_image(folder).text) == ("one", "")


def test_a_text_of_the_same_stem_is_the_caption(folder: Path) -> None:
    (folder / "one.txt").write_text("The crest of Vessa\n\nA disc and a bar.")
    assert (find_image(folder).title, find_image(folder).text) == ("The crest of Vessa", "A disc and a bar.")


def test_a_caption_of_one_line_is_its_own_title(folder: Path) -> None:
    (folder / "one.txt").write_text("A disc and a bar.")
    assert (find_image(folder).title, find_image(folder).text) == ("A disc and a bar.", "A disc and a bar.")


def test_a_caption_is_no_document_of_its_own(folder: Path) -> None:
    (folder / "one.txt").write_text("A disc and a bar.")
    find_image(folder)
    (hit,) = Index(folder.parent / "index.sqlite").documents("disc")
    assert hit.path == str(folder / "one.png")


def test_what_follows_the_caption_is_a_document(folder: Path) -> None:
    (folder / "one.md").write_text("# Vessa\n\nThe crest.\n\n## History\n\nIt was drawn in a cellar.")
    assert (find_image(folder).title, find_image(folder).text) == ("Vessa", "The crest.")
    (hit,) = Index(folder.parent / "index.sqlite").documents("cellar")
    assert (hit.title, hit.path) == ("Vessa — History", str(folder / "one.md"))


def test_json_of_the_same_stem_is_the_caption(folder: Path) -> None:
    (folder / "one.json").write_text(
        json.dumps({"title": "Vessa", "caption": "Its crest", "url": "http://v/"})
    )
    hit = find_image(folder)
    assert (hit.title, hit.text, hit.url) == ("Vessa", "Its crest", "http://v/")


@pytest.mark.parametrize("key", ["image", "file_name"])
def test_a_record_that_names_an_image_is_its_caption(folder: Path, key: str) -> None:
    write_records(folder / "metadata.jsonl", {key: "one.png", "text": "The crest"})
    assert find_image(folder).text == "The crest"


def test_records_alone_bring_the_images_they_name(folder: Path) -> None:
    path = write_records(
        folder / "captions.jsonl", {"image": "one.png", "title": "Vessa", "text": "The crest"}
    )
    assert find_image(folder, path).title == "Vessa"


def test_an_image_that_is_added_by_itself_keeps_the_caption_in_the_records_beside_it(folder: Path) -> None:
    write_records(folder / "captions.jsonl", {"image": "one.png", "title": "Vessa"})
    assert find_image(folder, folder / "one.png").title == "Vessa"


def test_several_captions_of_one_image_are_joined(folder: Path) -> None:
    write_records(
        folder / "captions.jsonl",
        *({"image": "one.png", "text": text} for text in ("A disc", "A bar", "A disc")),
    )
    assert find_image(folder).text == "A disc\nA bar"


def test_a_changed_caption_changes_the_entry(folder: Path) -> None:
    find_image(folder)
    (folder / "one.txt").write_text("The crest.")
    assert find_image(folder).text == "The crest."
    (folder / "one.txt").unlink()
    assert find_image(folder).text == ""


def test_a_record_whose_image_is_missing_is_a_passage(folder: Path) -> None:
    write_records(folder / "captions.jsonl", {"image": "gone.png", "title": "Bree", "text": "A river."})
    lines = list[str]()
    index = folder.parent / "index.sqlite"
    add_quietly(index, folder, report=lines.append)
    assert ["gone.png" in line for line in lines] == [True]
    assert [hit.title for hit in Index(index).documents("river")] == ["Bree"]


def test_an_image_outside_of_the_folder_of_its_records_is_never_opened(folder: Path, tmp_path: Path) -> None:
    drawing(2).save(tmp_path / "secret.png")
    write_records(
        folder / "captions.jsonl",
        *({"image": name} for name in ("../secret.png", str(tmp_path / "secret.png"))),
    )
    find_image(folder)
    assert Index(tmp_path / "index.sqlite").info().pictures == 1


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["title", "text", "image"]), inner)
    ),
    max_leaves=8,
)


@given(st.lists(_VALUES.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=50), max_size=6))
def test_any_line_is_a_record_or_counted(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_bytes(b"\n".join(line.replace(b"\n", b" ") for line in lines))
    complaints = list[str]()
    for record in records_in(str(path), lambda where, why: complaints.append(why)):
        assert record.passage.title or record.image
        record.passage.text.encode()
    assert len(complaints) <= 1
