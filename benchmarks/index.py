"""Measure the index: the time of building and searching, and the recall of known entries.

python -m benchmarks.index [--documents N] [--pictures N] [--queries N]

Documents have 110 words out of 60,000 by Zipf's law, in one file of JSON lines; images are drawn: flags, emblems on
white, clutter, smooth noise. A text query consists of some words of one document, in order and unchanged: it measures
ranking, not understanding. The second table shows how many of the best 1, 5 and 10 of all passages by bm25 the
search finds, in 50 queries per row; passages with equal scores are equivalent. An image query is a changed image of the
collection. All data is reproducible. Times are of a whole search as in a tool, including opening the file; CPU time is
more reliable on a busy machine. The time to describe the image is also listed separately, since it depends on its size.
The default counts take some minutes.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from pathlib import Path
from statistics import mean, quantiles

import numpy as np
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter

from pyvision.images.read import decode
from pyvision.tools.retrieval.building import add
from pyvision.tools.retrieval.database import open_reader
from pyvision.tools.retrieval.image_features import features_of
from pyvision.tools.retrieval.passages import query_terms
from pyvision.tools.retrieval.search import MAX_QUERY_TERMS, Index
from pyvision.types import Picture

WORDS, WORDS_OF_A_DOCUMENT = 60_000, 110
RANKS = (1, 5, 10)
COUNTS = (1, 2, 3, 5, 10, 15)  # words of a query
COMPARED = 50
SAME = 1e-5  # words in nearly every document differ by less
_ALL = "SELECT rowid, -bm25(words, 2.0, 1.0) FROM words WHERE words MATCH ?"


def main(arguments: Sequence[str] | None = None) -> None:
    """Build a collection, search it, print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.index", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--documents", type=int, default=100_000, help="(default 100,000)")
    parser.add_argument("--pictures", type=int, default=10_000, help="(default 10,000)")
    parser.add_argument("--queries", type=int, default=300, help="in each row of a table (default 300)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder), options.documents, options.pictures, options.queries)


def run(folder: Path, documents: int, pictures: int, queries: int) -> None:
    """All tables."""
    path = folder / "index.sqlite"
    texts = list(_documents(documents))
    _build(path, _write_documents(folder, texts), f"{documents:,} documents")
    _build(path, _write_pictures(folder, pictures), f"{pictures:,} pictures")
    index = Index(path)
    _print_texts(index, texts, queries)
    _print_losses(index, texts, queries)
    _print_pictures(index, pictures, queries)


@dataclass(slots=True)
class Row:
    """The results of one kind of query. ranks: of the right hit, from 1; None if not among ten."""

    milliseconds: list[float] = field(default_factory=list)
    processor_ms: list[float] = field(default_factory=list)
    ranks: list[int | None] = field(default_factory=list)

    def format(self, name: str) -> str:
        parts, processor = quantiles(self.milliseconds, n=20), quantiles(self.processor_ms, n=20)
        times = parts[9], parts[18], processor[9], processor[18]
        recall = (sum(rank is not None and rank <= limit for rank in self.ranks) for limit in RANKS)
        shares = "".join(f"{count / len(self.ranks):>8.3f}" for count in recall)
        return f"  {name:<34}" + "".join(f"{time_ms:>9.1f}" for time_ms in times) + shares


def _head(what: str) -> str:
    names = "".join(f"{name:>9}" for name in ("p50 ms", "p95 ms", "p50 CPU", "p95 CPU"))
    return f"\n{what:<36}{names}" + "".join(f"{f'R@{rank}':>8}" for rank in RANKS)


def _documents(count: int) -> Iterator[list[str]]:
    generator = np.random.default_rng(0)
    share = 1 / (np.arange(WORDS) + 2.7)
    vocabulary = [_word(number) for number in range(WORDS)]
    for _ in range(count):
        chosen = generator.choice(WORDS, WORDS_OF_A_DOCUMENT, p=share / share.sum())
        yield [vocabulary[number] for number in chosen]


def _word(number: int) -> str:
    """A word of syllables that ends in a vowel, so that it is not a plural."""
    syllables = []
    for _ in range(4):
        number, rest = divmod(number, 75)
        syllables.append("bdfghklmnprstvz"[rest // 5] + "aeiou"[rest % 5])
    return "".join(syllables)


def _write_documents(folder: Path, texts: Sequence[Sequence[str]]) -> Path:
    path = folder / "documents.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number, text in enumerate(texts):
            record = {"title": f"entry {number}", "text": " ".join(text)}
            file.write(f"{json.dumps(record)}\n")
    return path


def _write_pictures(folder: Path, count: int) -> Path:
    pictures = folder / "pictures"
    pictures.mkdir()
    for number in range(count):
        draw_image(number).save(pictures / f"{number}.png", compress_level=1)
    return pictures


def _build(path: Path, root: Path, what: str) -> None:
    before = path.stat().st_size if path.exists() else 0
    began = time.perf_counter()
    add(path, [root], print, lambda done, whole: None)
    first, began = time.perf_counter() - began, time.perf_counter()
    add(path, [root], print, lambda done, whole: None)
    second = time.perf_counter() - began
    grown = (path.stat().st_size - before) / 2**20
    print(f"{what}: indexed in {first:.1f} s, again with nothing changed in {second:.1f} s, {grown:.0f} MiB")


def _print_texts(index: Index, texts: Sequence[Sequence[str]], queries: int) -> None:
    print(_head("texts, by words of one document"))
    for count in COUNTS:
        row = Row()
        for number, query in _queries(texts, count, queries):
            _search(row, partial(index.documents, query, 10), f"entry {number}")
        print(row.format(_count_words(count)))


def _print_losses(index: Index, texts: Sequence[Sequence[str]], queries: int) -> None:
    print("\nof the best by bm25 of all passages" + "".join(f"{f'of {rank}':>8}" for rank in RANKS))
    for count in COUNTS:
        shares = [_shares(index, query) for _, query in _queries(texts, count, min(queries, COMPARED))]
        print(
            f"  {_count_words(count):<33}"
            + "".join(f"{mean(column):>8.3f}" for column in zip(*shares, strict=True))
        )


def _queries(texts: Sequence[Sequence[str]], count: int, queries: int) -> Iterator[tuple[int, str]]:
    """The number of a document, and `count` of its words in order."""
    choose = random.Random(count)
    for number in choose.choices(range(len(texts)), k=queries):
        positions = sorted(choose.sample(range(WORDS_OF_A_DOCUMENT), count))
        yield number, " ".join(texts[number][position] for position in positions)


def _shares(index: Index, query: str) -> list[float]:
    """The share of the best passages that a search finds, for each of RANKS."""
    match = " OR ".join(f'"{word}"' for word in query_terms(query, MAX_QUERY_TERMS))
    with open_reader(index.path) as database:
        scores: dict[int, float] = dict(database.execute(_ALL, (match,)).fetchall())
    found = sorted((scores[hit.id] for hit in index.documents(query, max(RANKS))), reverse=True)
    best = sorted(scores.values(), reverse=True)[: max(RANKS)]
    return [_share(found[:rank], best[:rank]) for rank in RANKS]


def _share(found: Sequence[float], best: Sequence[float]) -> float:
    """The share of results that score at least as high as the last of the best."""
    return sum(score > best[-1] - SAME for score in found) / len(best)


def _count_words(count: int) -> str:
    return f"{count} words" if count > 1 else "1 word"


def _print_pictures(index: Index, pictures: int, queries: int) -> None:
    index.similar(_picture(draw_image(0)))  # loads the descriptors
    similar, copies = {name: Row() for name in CHANGES}, {name: Row() for name in CHANGES}
    describing, wrong = list[float](), 0
    for name, change in CHANGES.items():
        for number in random.Random(name).choices(range(pictures), k=queries):
            picture = _picture(change(draw_image(number)))
            began = time.perf_counter()
            features_of(picture)
            describing.append(1000 * (time.perf_counter() - began))
            _search(similar[name], partial(index.similar, picture, 10), str(number))
            _search(copies[name], partial(index.identical, picture, 10), str(number))
            wrong += any(hit.title != str(number) for hit in index.identical(picture, 10))
    _print_rows("images, by similarity", similar)
    _print_rows("images, copies only", copies)
    parts = quantiles(describing, n=20)
    print(f"\nof which describing the image: p50 {parts[9]:.1f} ms, p95 {parts[18]:.1f} ms")
    print(f"queries for copies that also found another image: {wrong} of {len(CHANGES) * queries}")


def _print_rows(what: str, rows: Mapping[str, Row]) -> None:
    print(_head(what))
    for name, row in rows.items():
        print(row.format(name))


def _search(row: Row, search: Callable[[], Sequence[object]], title: str) -> None:
    began, used = time.perf_counter(), time.process_time()
    hits = search()
    row.processor_ms.append(1000 * (time.process_time() - used))
    row.milliseconds.append(1000 * (time.perf_counter() - began))
    titles = [getattr(hit, "title", "") for hit in hits]
    row.ranks.append(titles.index(title) + 1 if title in titles else None)


def _picture(image: Image.Image) -> Picture:
    return decode(_file(image, "PNG", 0), "query")


def _file(image: Image.Image, kind: str, quality: int) -> bytes:
    file = BytesIO()
    image.save(file, kind, quality=quality)
    return file.getvalue()


def _compress(image: Image.Image, quality: int) -> Image.Image:
    return Image.open(BytesIO(_file(image, "JPEG", quality))).convert("RGB")


def _crop(image: Image.Image, share: float) -> Image.Image:
    left, top = image.width * (1 - share) / 2, image.height * (1 - share) / 2
    return image.crop((int(left), int(top), int(image.width - left), int(image.height - top)))


def _scale(image: Image.Image, across: float, down: float) -> Image.Image:
    return image.resize((int(image.width * across), int(image.height * down)))


CHANGES: Mapping[str, Callable[[Image.Image], Image.Image]] = {
    "none": lambda image: image,
    "JPEG of quality 30": lambda image: _compress(image, 30),
    "half the size": lambda image: _scale(image, 0.5, 0.5),
    "a quarter, JPEG of quality 60": lambda image: _compress(_scale(image, 0.25, 0.25), 60),
    "twice the size": lambda image: _scale(image, 2, 2),
    "a tenth wider": lambda image: _scale(image, 1.1, 1),
    "brighter by 15 %": lambda image: ImageEnhance.Brightness(image).enhance(1.15),
    "blurred by a pixel": lambda image: image.filter(ImageFilter.GaussianBlur(1)),
    "the middle 90 %": lambda image: _crop(image, 0.9),
    "the middle 70 %": lambda image: _crop(image, 0.7),
}


def draw_image(number: int) -> Image.Image:
    """The image with this number, 240 to 400 pixels on each side."""
    choose = random.Random(number)
    size = choose.choice([(320, 240), (256, 256), (240, 320), (400, 300)])
    return (_flag, _emblem, _clutter, _noise)[number % 4](choose, size)


def _colour(choose: random.Random) -> tuple[int, int, int]:
    return choose.randrange(256), choose.randrange(256), choose.randrange(256)


def _flag(choose: random.Random, size: tuple[int, int]) -> Image.Image:
    image, (width, height) = Image.new("RGB", size, _colour(choose)), size
    draw, stripes, is_upright = ImageDraw.Draw(image), choose.choice([2, 3, 4]), choose.random() < 0.5
    for place in range(stripes):
        upright = (place * width // stripes, 0, (place + 1) * width // stripes, height)
        level = (0, place * height // stripes, width, (place + 1) * height // stripes)
        draw.rectangle(upright if is_upright else level, fill=_colour(choose))
    if choose.random() < 0.7:
        draw.ellipse((width * 0.35, height * 0.35, width * 0.65, height * 0.65), fill=_colour(choose))
    return image


def _emblem(choose: random.Random, size: tuple[int, int]) -> Image.Image:
    image, (width, height) = Image.new("RGB", size, "white"), size
    draw = ImageDraw.Draw(image)
    for _ in range(choose.randint(2, 5)):
        x, y = choose.uniform(0.2, 0.6) * width, choose.uniform(0.2, 0.6) * height
        side = choose.uniform(0.1, 0.35) * min(size)
        shape = choose.choice([draw.ellipse, draw.rectangle])
        shape((x, y, x + side, y + side), fill=_colour(choose), outline="black")
    return image


def _clutter(choose: random.Random, size: tuple[int, int]) -> Image.Image:
    image, (width, height) = Image.new("RGB", size, _colour(choose)), size
    draw = ImageDraw.Draw(image)
    for _ in range(30):
        x, y = choose.random() * width, choose.random() * height
        side = choose.uniform(0.03, 0.25) * min(size)
        third = (x + choose.uniform(-side, side), y + side)
        draw.polygon([(x, y), (x + side, y + choose.uniform(-side, side)), third], fill=_colour(choose))
    return image


def _noise(choose: random.Random, size: tuple[int, int]) -> Image.Image:
    generator = np.random.default_rng(choose.randrange(2**32))
    coarse = Image.fromarray(generator.integers(0, 256, (6, 8, 3), dtype=np.uint8))
    smooth = np.asarray(coarse.resize(size, Image.Resampling.BICUBIC), dtype=np.float64)
    grain = generator.normal(0, 8, (size[1], size[0], 1))
    return Image.fromarray(np.clip(smooth + grain, 0, 255).astype(np.uint8))


if __name__ == "__main__":
    main()
