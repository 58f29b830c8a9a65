"""The sessions of a soak, drawn from a seed: benign jobs with their exact results, and hostile programs."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random

from sandbox import CellResult, Policy, Sandbox, SandboxError, Session

HOSTILE_SHARE = 0.05
PATIENT = Policy(cell_timeout_s=120)  # a loaded machine must not make benign work look wrong
IMPATIENT = Policy(cell_timeout_s=2, interrupt_grace_s=0.5, memory_bytes=2**30)
_ATTEMPTS = 4  # a lost kernel is reported once; a damaged one may need its time limit first
_ALIVE = "print(6 * 7)"
_CLEAN = (  # the first cell of each job: no trace of an earlier session may be found
    "import os\nprint(os.path.exists('/tmp/trace-of-a-session'), 'trace' in globals())\n"
    "trace = open('/tmp/trace-of-a-session', 'w').write('here')"
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one session; `wrong` is None if every result was as expected."""

    number: int
    kind: str
    wrong: str | None


@dataclass(frozen=True, slots=True)
class Soak:
    """The two sandboxes of a soak and its seed, which determine every session by its number."""

    patient: Sandbox
    impatient: Sandbox
    seed: int

    def session(self, number: int) -> Verdict:
        """Open, work, close. An exception of the sandbox counts as wrong."""
        random = Random(f"{self.seed}:{number}")
        if random.random() < HOSTILE_SHARE:
            kind = random.choice(sorted(HOSTILE_PROGRAMS))
            return Verdict(number, kind, self._attack(HOSTILE_PROGRAMS[kind]))
        job = draw_job(random)
        return Verdict(number, job.kind, self._work(job))

    def _work(self, job: Job) -> str | None:
        try:
            with self.patient.open(job.images) as session:
                answers = (cell.find_difference(session.run(cell.code)) for cell in job.cells)
                return next((answer for answer in answers if answer is not None), None)
        except SandboxError as error:
            return f"{type(error).__name__}: {error}"

    def _attack(self, program: str) -> str | None:
        try:
            with self.impatient.open() as session:
                session.run(program)
                return _check_recovery(session)
        except SandboxError as error:
            return f"{type(error).__name__}: {error}"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell with its expected result. error: the exception's name and line. figures: their sizes."""

    code: str
    text: str = ""
    figures: tuple[tuple[int, int], ...] = ()
    error: tuple[str, int] | None = None

    def find_difference(self, result: CellResult) -> str | None:
        """How the result differs from the expected one; None if it does not."""
        error = (result.error.name, result.error.line) if result.error else None
        sizes = tuple((figure.width, figure.height) for figure in result.figures)
        status = "error" if self.error else "ok"
        found = (result.status, result.text, sizes, error)
        expected = (status, self.text, self.figures, self.error)
        return None if found == expected else f"{str(found)[:200]}, not {str(expected)[:200]}"


@dataclass(frozen=True, slots=True)
class Job:
    """One session: its images and cells, in order."""

    kind: str
    cells: tuple[Cell, ...]
    images: Mapping[str, bytes] = field(default_factory=dict)


def draw_job(random: Random) -> Job:
    """Some benign work, after a check that the session is clean."""
    job = random.choice(_KINDS)(random)
    return Job(job.kind, (Cell(_CLEAN, "False False\n"), *job.cells), job.images)


def _text(random: Random) -> Job:
    text = "".join(random.choices("aé漢🙂 \n", k=random.randint(1, 5_000)))
    return Job(
        "text", (Cell(f"text = {text!r}\nprint(text)", f"{text}\n"), Cell("len(text)", f"{len(text)}\n"))
    )


def _long_text(random: Random) -> Job:
    lines = random.randint(1_000, 5_000)
    output = "".join(f"line {number}\n" for number in range(lines))
    return Job("long text", (Cell(f"for number in range({lines}):\n    print('line', number)", output),))


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
    show = f"from PIL import Image\nfor size in {sizes}:\n    display(Image.new('RGB', size, 'teal'))"
    plot = "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.show()\nprint(plt.get_fignums())"
    return Job("figures", (Cell(show, figures=sizes), _Plot(plot, "[]\n")))


@dataclass(frozen=True, slots=True)
class _Plot(Cell):
    """A cell that must show one plot, of any size."""

    def find_difference(self, result: CellResult) -> str | None:
        found = (result.status, result.text, len(result.figures))
        expected = ("ok", self.text, 1)
        return None if found == expected else f"{str(found)[:200]}, not {expected}"


def _images(random: Random) -> Job:
    colours = [(random.randrange(256), random.randrange(256), random.randrange(256)) for _ in range(2)]
    size = (random.randint(1, 1_500), random.randint(1, 1_000))
    images = {f"image_clue_{at}": _png(size, colour) for at, colour in enumerate(colours)}
    ask = "print(image_clue_0.size, image_clue_0.getpixel((0, 0)), image_clue_1.getpixel((0, 0)))"
    cells = (
        Cell(ask, f"{size} {colours[0]} {colours[1]}\n"),
        Cell("image_clue_1.crop((0, 0, 1, 1))", figures=((1, 1),)),
    )
    return Job("images", cells, images)


def _errors(random: Random) -> Job:
    line = random.randint(1, 30)
    return Job(
        "errors",
        (
            Cell("value = 'unchanged'"),
            Cell(
                "# a line\n" * (line - 1) + "print('before') or 1 / 0",
                "before\n",
                error=("ZeroDivisionError", line),
            ),
            Cell("unknown_name", error=("NameError", 1)),
            Cell("print(value)", "unchanged\n"),
        ),
    )


def _child_processes(random: Random) -> Job:
    number = random.randrange(10**9)
    echo = f"import subprocess\nsubprocess.run(['echo', '{number}'], capture_output=True, text=True).stdout"
    start = "children = [subprocess.Popen(['sleep', '60']) for _ in range(3)]\nprint(len(children))"
    return Job("child processes", (Cell(echo, f"{str(number) + chr(10)!r}\n"), Cell(start, "3\n")))


def _threads(random: Random) -> Job:
    number = random.randrange(10**6)
    start = (
        "import threading\nnext_cell = threading.Event()\n"
        "def speak():\n    next_cell.wait(60)\n    print('too late')\n"
        "late = threading.Thread(target=speak)\nlate.start()"
    )
    again = f"next_cell.set()\nlate.join()\nprint({number})"
    return Job("threads", (Cell(start), Cell(again, f"{number}\n")))


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
    _images,
    _errors,
    _child_processes,
    _threads,
)


def _check_recovery(session: Session) -> str | None:
    results = []
    for _ in range(_ATTEMPTS):
        results.append(session.run(_ALIVE))
        if results[-1].status == "ok" and results[-1].text == "42\n":
            return None
    return f"no correct answer in the next {_ATTEMPTS} cells: {[result.status for result in results]}"


# Every program is bounded in count and in time, also where nothing would contain it.
HOSTILE_PROGRAMS = {
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
