from __future__ import annotations

import socket
from pathlib import Path

import pytest

from pyvision.demo.serve import Demo, DemoOptions
from pyvision.errors import ConfigError, RunFolderError


def test_a_port_that_is_taken_is_refused_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=rf"127\.0\.0\.1:{port} .*in use.*--port"):
            Demo(DemoOptions(port=port, models=("offline",)))


def test_an_address_of_no_machine_is_refused_in_one_line() -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.invalid:0 .*--host"):
        Demo(DemoOptions(host="nowhere.invalid", port=0, models=("offline",)))


def test_a_folder_that_cannot_be_made_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFolderError, match=r"file': File exists; choose another --out"):
        Demo(DemoOptions(port=0, out=tmp_path / "file"))
