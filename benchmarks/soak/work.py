"""Benign work: what a session is asked, and exactly what it must say. All of it drawn from a seed."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random

from sandbox import CellResult

_CLEAN = (  # at the start of each: nothing of an earlier session may be found
    "import os\nprint(os.path.exists('/tmp/trace-of-a-session'), 'trace' in globals())\n"
    "trace = open('/tmp/trace-of-a-session', 'w').write('here')"
)


@dataclass(frozen=True, slots=True)
class Cell:
    """`error` is the exception's name and line; `figures` are the sizes of what is shown."""

    code: str
    text: str = ""
    figures: tuple[tuple[int, int], ...] = ()
    error: tuple[str, int] | None = None

    def wrong(self, result: CellResult) -> str | None:
        """How the result differs from what it must be."""
        error = (result.error.name, result.error.line) if result.error else None
        sizes = tuple((figure.width, figure.height) for figure in result.figures)
        status = "error" if self.error else "ok"
        found = (result.status, result.text, sizes, error)
        wanted = (status, self.text, self.figures, self.error)
        return None if found == wanted else f"{str(found)[:200]}, not {str(wanted)[:200]}"


@dataclass(frozen=True, slots=True)
class Job:
    """One session: its pictures and cells, in order."""

    kind: str
    cells: tuple[Cell, ...]
    images: Mapping[str, bytes] = field(default_factory=dict)


def benign(random: Random) -> Job:
    """Some work, on a session that must be clean."""
    job = random.choice(_KINDS)(random)
    return Job(job.kind, (Cell(_CLEAN, "False False\n"), *job.cells), job.images)


def _text(random: Random) -> Job:
    words = "".join(random.choices("aé漢🙂 \n", k=random.randint(1, 5_000)))
    return Job(
        "text", (Cell(f"said = {words!r}\nprint(said)", f"{words}\n"), Cell("len(said)", f"{len(words)}\n"))
    )


def _long_text(random: Random) -> Job:
    lines = random.randint(1_000, 5_000)
    said = "".join(f"line {number}\n" for number in range(lines))
    return Job("long text", (Cell(f"for number in range({lines}):\n    print('line', number)", said),))


def _arrays(random: Random) -> Job:
    side = random.randint(2, 300)
    filled = f"import numpy as np\ntable = np.arange({side * side}).reshape({side}, {side})"
    product = sum((side * row) * row for row in range(side))
    return Job(
        "arrays",
        (
            Cell(filled),
            Cell("print(table.sum())", f"{side * side * (side * side - 1) // 2}\n"),
            Cell("print(table[:, 0] @ np.arange(len(table)))", f"{product}\n"),
        ),
    )


def _figures(random: Random) -> Job:
    sizes = tuple((random.randint(1, 800), random.randint(1, 600)) for _ in range(random.randint(1, 4)))
    shown = f"from PIL import Image\nfor size in {sizes}:\n    display(Image.new('RGB', size, 'teal'))"
    plot = "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.show()\nprint(plt.get_fignums())"
    return Job("figures", (Cell(shown, figures=sizes), _Plot(plot, "[]\n")))


@dataclass(frozen=True, slots=True)
class _Plot(Cell):
    """A plot has some size or other: one is wanted."""

    def wrong(self, result: CellResult) -> str | None:
        found = (result.status, result.text, len(result.figures))
        wanted = ("ok", self.text, 1)
        return None if found == wanted else f"{str(found)[:200]}, not {wanted}"


def _pictures(random: Random) -> Job:
    colours = [(random.randrange(256), random.randrange(256), random.randrange(256)) for _ in range(2)]
    size = (random.randint(1, 1_500), random.randint(1, 1_000))
    images = {f"image_clue_{at}": _png(size, colour) for at, colour in enumerate(colours)}
    ask = "print(image_clue_0.size, image_clue_0.getpixel((0, 0)), image_clue_1.getpixel((0, 0)))"
    cells = (
        Cell(ask, f"{size} {colours[0]} {colours[1]}\n"),
        Cell("image_clue_1.crop((0, 0, 1, 1))", figures=((1, 1),)),
    )
    return Job("pictures", cells, images)


def _errors(random: Random) -> Job:
    line = random.randint(1, 30)
    return Job(
        "errors",
        (
            Cell("kept = 'kept'"),
            Cell(
                "# a line\n" * (line - 1) + "print('before') or 1 / 0",
                "before\n",
                error=("ZeroDivisionError", line),
            ),
            Cell("unknown_name", error=("NameError", 1)),
            Cell("print(kept)", "kept\n"),
        ),
    )


def _children(random: Random) -> Job:
    number = random.randrange(10**9)
    echo = f"import subprocess\nsubprocess.run(['echo', '{number}'], capture_output=True, text=True).stdout"
    left = "left = [subprocess.Popen(['sleep', '60']) for _ in range(3)]\nprint(len(left))"
    return Job("child processes", (Cell(echo, f"{str(number) + chr(10)!r}\n"), Cell(left, "3\n")))


def _threads(random: Random) -> Job:
    number = random.randrange(10**6)
    late = (
        "import threading, time\n"
        "def speak():\n    time.sleep(0.05)\n    print('too late')\n"
        "late = threading.Thread(target=speak)\nlate.start()"
    )
    return Job("threads", (Cell(late), Cell(f"late.join()\nprint({number})", f"{number}\n")))


def _png(size: tuple[int, int], colour: tuple[int, int, int]) -> bytes:
    from PIL import Image

    sink = io.BytesIO()
    Image.new("RGB", size, colour).save(sink, "PNG", compress_level=1)
    return sink.getvalue()


_KINDS: tuple[Callable[[Random], Job], ...] = (
    _text,
    _long_text,
    _arrays,
    _figures,
    _pictures,
    _errors,
    _children,
    _threads,
)


# ---- Hostile work. Whatever its result is, the session must answer again after it, and leave nothing behind.
# ----
# ---- Every bomb is bounded in count and in time, also where nothing would contain it.


BOMBS = {
    "fork loop": """
import os, time
for _ in range(300):
    try:
        if os.fork() == 0:
            time.sleep(2)
            os._exit(0)
    except OSError:
        break
""",
    "thread loop": """
import threading, time
for _ in range(500):
    threading.Thread(target=time.sleep, args=(2,), daemon=True).start()
""",
    "memory hog": """
def hog():
    return [bytearray(b"x") * 2**26 for _ in range(40)]
len(hog())
""",
    "ignored interrupt": """
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
end = time.monotonic() + 20
while time.monotonic() < end:
    try:
        time.sleep(0.01)
    except BaseException:
        pass
""",
    "sudden exit": "import os\nos._exit(3)",
    "crash": "import ctypes\nctypes.string_at(0)",
    "stopped": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    "junk on descriptors": """
import os
for descriptor in range(3, 64):
    try:
        os.set_blocking(descriptor, False)
        os.write(descriptor, os.urandom(4096))
    except OSError:
        pass
""",
    "closed descriptors": "import os\nos.closerange(3, 256)",
    "flood of text": "for _ in range(200):\n    print('x' * 10**6)",
    "flood of figures": """
from PIL import Image
for number in range(100):
    display(Image.new("RGB", (200, 200), (number, 0, 0)))
""",
    "full disk": """
with open("/tmp/filler", "wb") as filler:
    for _ in range(64):
        filler.write(bytes(2**24))
""",
    "endless recursion": """
import sys
sys.setrecursionlimit(10**6)
def deeper(depth):
    return deeper(depth + 1) if depth < 10**5 else depth
deeper(0)
""",
}
