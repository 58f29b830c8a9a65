from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pyvision.config.files import explain_os_errors, package_version, read_settings, write_atomic
from pyvision.errors import ConfigError, RunFolderError


def test_a_file_is_written_in_place_of_an_older_one(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    write_atomic(file, b"old")
    write_atomic(file, b"new")
    assert file.read_bytes() == b"new"


def test_what_a_link_leads_to_is_written(tmp_path: Path) -> None:
    file, link = tmp_path / "report.html", tmp_path / "latest.html"
    link.symlink_to(file)
    write_atomic(link, b"new")
    assert (link.is_symlink(), file.read_bytes()) == (True, b"new")


def test_a_pipe_is_never_replaced(tmp_path: Path) -> None:
    """As root, a device such as /dev/null could be replaced too."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as reader:
        received = reader.submit(pipe.read_bytes)
        write_atomic(pipe, b"data")
        assert (received.result(), pipe.is_fifo()) == (b"data", True)


def test_a_file_that_cannot_be_written_leaves_no_part_of_it(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError, match="taken"):
        write_atomic(tmp_path / "taken", b"data")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_what_the_disk_refuses_names_the_path_with_a_way_out(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    with (
        pytest.raises(RunFolderError, match=r"missing.*No such file.*choose another --out"),
        explain_os_errors(missing),
    ):
        missing.read_bytes()


def test_settings_without_an_end_are_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"/dev/zero: is larger than 4,194,304 bytes; give a file of settings"
    ):
        read_settings(Path("/dev/zero"))


def test_a_path_with_a_nul_in_it_is_refused() -> None:
    refused = pytest.raises(RunFolderError, match="not a valid file name")
    with refused, explain_os_errors(Path("a\0b")):
        pytest.fail("the block was entered")


@pytest.mark.parametrize("name", ["pyvision_agent", "pyvision_minimal"])
def test_every_distribution_knows_its_version(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata = tmp_path / f"{name}-9.8.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.8\n", encoding="utf-8")
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    assert package_version() == "9.8"
