"""The conformance harness, with a tiny published scorer and tiny published replies in a git folder made here."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.conformance.__main__ import COMPARISONS, Comparison, compare, explain
from benchmarks.conformance.originals import ADAPTERS
from benchmarks.conformance.replies import Reply
from benchmarks.conformance.sources import SourceError, Sources
from pyvision.bench.metrics import find_metric
from pyvision.bench.metrics.conformance import Conformance, describe, load, to_json, to_text

SCORER = """
import a_framework_that_is_not_installed

def relaxed_correctness(target, prediction):
    if prediction == "?":
        return random.choice([True, False])
    return prediction == "odd" or prediction.lower() == target.lower()
"""


def git(folder: Path, *arguments: str) -> str:
    names = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    done = subprocess.run(
        ["git", "-C", str(folder), *names, *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[Sources, str]:
    folder = tmp_path_factory.mktemp("published")
    repository = folder / "someone+scorer"
    repository.mkdir()
    (repository / "score.py").write_text(SCORER, encoding="utf-8")
    (repository / "replies.json").write_text(json.dumps(["Yes", "no", "?", "odd"]), encoding="utf-8")
    git(repository, "init", "--quiet")
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "-m", "Publish")
    commit = git(repository, "rev-parse", "HEAD")
    return Sources(folder / "kept", f"{folder}/{{owner}}+{{name}}"), f"someone/scorer@{commit}"


def compared(published: tuple[Sources, str]) -> Conformance:
    sources, repository = published

    def replies(sources: Sources) -> Iterator[Reply]:
        for text in json.loads(sources.read(repository, "replies.json")):
            yield Reply(text, "yes")

    comparison = Comparison(
        ("relaxed:lmms-eval",), repository, "MIT", ("score.py",), "relaxed", replies, "published replies"
    )
    return compare(comparison, sources, sys.executable)


def test_equal_replies_are_counted(published: tuple[Sources, str]) -> None:
    found = compared(published)
    assert (found.replies, found.equal) == (4, 2)


def test_a_guess_of_the_published_scorer_explains_a_difference(published: tuple[Sources, str]) -> None:
    assert compared(published).explained == {"guess": 1}


def test_a_difference_without_a_rule_is_unexplained(published: tuple[Sources, str]) -> None:
    assert compared(published).unexplained == 1


def test_the_same_replies_have_the_same_hash(published: tuple[Sources, str]) -> None:
    assert compared(published).sha256 == compared(published).sha256


def test_neither_replies_nor_code_are_kept(published: tuple[Sources, str]) -> None:
    text = to_json([compared(published)])
    assert "odd" not in text
    assert "def " not in text


def test_a_file_that_is_not_there_is_an_error_with_its_repository(published: tuple[Sources, str]) -> None:
    sources, repository = published
    with pytest.raises(SourceError, match=r"someone\+scorer: git cat-file"):
        sources.read(repository, "missing.py")


def test_a_rule_of_one_comparison_explains_no_other() -> None:
    blind = next(each for each in COMPARISONS if "vqa:official" in each.flavours)
    assert explain(blind, Reply("x^2", ["y"]), 1.0, 0.0) == ""


def test_every_comparison_has_its_adapter() -> None:
    assert {each.adapter for each in COMPARISONS} <= ADAPTERS.keys()


def test_every_compared_flavour_exists() -> None:
    for each in COMPARISONS:
        for name, _, flavour in (one.partition(":") for one in each.flavours):
            assert callable(find_metric(name, flavour))


def test_every_official_flavour_is_equal_or_explained() -> None:
    found = load()
    official = [
        row["flavour"] for row in describe() if row["flavour"].endswith((":official", ":as-published"))
    ]
    assert [flavour for flavour in official if flavour not in found or found[flavour].share < 0.999] == []


def test_a_flavour_that_was_not_compared_says_so() -> None:
    assert "not compared" in to_text(describe("blind"))
