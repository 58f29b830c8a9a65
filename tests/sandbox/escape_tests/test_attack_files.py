from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from sandbox.escape_tests.attacks import Attack, attacks, read_topic


def program(folder: Path, text: str) -> Path:
    path = folder / "files.py"
    path.write_text(f'"""A topic."""\n\n# %% something\n{text}')
    return path


def test_the_first_lines_of_a_program_say_how_to_run_it(tmp_path: Path) -> None:
    text = (
        '"""Try it.\n\nlayer: deadline\nplain: skipped, it needs one\ntimeout: 0.5\nsession: own\n'
        'sessions: 2\nproof: deadline\nfunctions: take\nafter: print("a: b")\nexpect: a: b\n"""\nx = 1\n'
    )
    assert read_topic(program(tmp_path, text)) == (
        Attack(
            topic="files",
            name="something",
            tries="Try it.",
            code=text,
            layer="deadline",
            plain="skipped",
            why="it needs one",
            timeout_s=0.5,
            session="own",
            sessions=2,
            proof="deadline",
            functions="take",
            after='print("a: b")',
            expect="a: b",
        ),
    )


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("layer: mounts\nplain: sometimes", "'sometimes' is none of succeeds"),
        ("layer: glue\nplain: fails", "'glue' is none of mounts"),
        ("layer: mounts\nplain: fails\nproof: belief", "'belief' is none of cell"),
        ("layer: mounts\nplain: fails\ncolour: red", "'colour' is none of layer"),
        ("layer: mounts", "its docstring does not say"),
    ],
)
def test_a_program_that_is_not_understood_is_named(tmp_path: Path, lines: str, why: str) -> None:
    path = program(tmp_path, f'"""Try it.\n\n{lines}\n"""\n')
    with pytest.raises(ValueError, match=why) as raised:
        read_topic(path)
    assert str(raised.value).startswith(f"{path}: something: ")


def test_every_program_prints_its_marker_or_is_judged_from_the_host() -> None:
    judged_inside = [each for each in attacks() if each.proof == "cell" and each.after is None]
    assert [each.id for each in judged_inside if "MARKER" not in each.code] == []


def test_the_published_attacks_are_unchanged() -> None:
    """A file of digests, so that a change of an attack is a decision and no accident."""
    digests = {each.id: hashlib.sha256(each.code.encode()).hexdigest() for each in attacks()}
    published = json.loads(Path(__file__).with_name("digests.json").read_text(encoding="utf-8"))
    assert {name: digests.get(name) for name in published} == published


def test_every_attack_that_the_security_page_names_exists() -> None:
    page = (Path(__file__).parents[3] / "docs" / "security.md").read_text(encoding="utf-8")
    topics = {each.topic for each in attacks()}
    known = {each.id for each in attacks()} | {f"{topic}/*" for topic in topics}
    named = {name for name in re.findall(r"`([a-z_]+/[a-z_*]+)`", page) if name.partition("/")[0] in topics}
    assert len(named) > 10
    assert named <= known
