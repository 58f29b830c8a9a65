"""What the zygote did before the first fork is found done, and is not seen."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from PIL import Image

from sandbox import KernelStartError, Sandbox, Session
from sandbox.isolation.cgroup import Group
from tests.sandbox.conftest import png

_CELLS = (
    "1",
    "print(1)",
    "plt.plot([0, 1], label='a')\nplt.legend()\nplt.show()",
    "Image.new('RGB', (1, 1))",
    "1 / 0",
    "x = (",
    "np.random.rand(2)",
    "plt.imshow(np.random.rand(300, 300)); plt.show()",
    "from PIL import ImageDraw, ImageEnhance, ImageFilter, ImageFont, ImageOps",
)
_TRACES = """
import asyncio, linecache, sys
print(_, __, ___, repr(Out), len(In), get_ipython().execution_count)
print([name for name in linecache.cache if name.startswith('<cell')], plt.get_fignums())
print([name for name in dir(sys) if name.startswith('last_')], len(asyncio.all_tasks()))
"""


def zygote_of(session: Session) -> int:
    """The process that the kernel is a fork of."""
    assert session._kernel is not None
    status = Path(f"/proc/{session._kernel.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("PPid"))


def turned_jpeg() -> bytes:
    exif, sink = Image.Exif(), io.BytesIO()
    exif[0x0112] = 6
    Image.new("RGB", (40, 30)).save(sink, "JPEG", exif=exif)
    return sink.getvalue()


def test_a_session_does_not_see_the_warm_up(sandbox: Sandbox) -> None:
    with sandbox.open() as session:
        seen = session.run(_TRACES).text
        assert seen == "   {} 2 2\n['<cell 1>'] []\n[] 2\n"
        assert session.run("6 * 7").text == "42\n"
        assert session.run("_").text == "42\n"


def test_ordinary_cells_import_nothing_any_more(sandbox: Sandbox) -> None:
    with sandbox.open() as session:
        session.run("import sys; before = set(sys.modules)")
        session.define({"image": png(), "photo": turned_jpeg()})
        for code in _CELLS:
            session.run(code)
        assert session.run("print(set(sys.modules) - before)").text == "set()\n"


def test_the_warm_up_leaves_no_thread(sandbox: Sandbox) -> None:
    with sandbox.open() as session:
        tasks = Path(f"/proc/{zygote_of(session)}/task")
        names = [(task / "comm").read_text() for task in tasks.iterdir()]
        assert not [name for name in names if name.startswith("ZMQ")]
        assert len(names) <= 2  # numpy's linear algebra has one of its own


def test_the_zygote_has_one_capability_in_its_own_user_namespace(sandbox: Sandbox) -> None:
    with sandbox.open() as session:
        zygote = Path(f"/proc/{zygote_of(session)}")
        rights = [
            line.split()[1] for line in (zygote / "status").read_text().splitlines() if "Cap" in line[:3]
        ]
        assert [int(each, 16) for each in rights[:3]] == [
            0,
            1 << 21,
            1 << 21,
        ]  # inherited, permitted, effective
        assert (zygote / "ns" / "user").readlink() != Path("/proc/self/ns/user").readlink()
        assert (zygote / "uid_map").read_text().split()[2] == "1"


def test_a_kernel_that_cannot_join_its_cgroup_is_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Group, "open_procs_files", lambda self: [os.open("/dev/full", os.O_WRONLY)])
    with Sandbox() as sandbox:
        sandbox.warm_up()
        assert sandbox._engine is not None
        if sandbox._engine.limits.groups is None:
            pytest.skip("this machine has no cgroups for this user")
        with pytest.raises(KernelStartError, match="cannot be put into its cgroup"):
            sandbox.open()
