"""Rows about cells in a running kernel: text, figures, host calls, traces, large images, and endless output."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.processes import peak_mb, reset_peak, rss_mb
from benchmarks.sandbox.measure import (
    TRIVIAL,
    Measure,
    Setting,
    alternate,
    check,
    has,
    medians,
    milliseconds,
)
from benchmarks.sandbox.plain import PlainKernel
from sandbox import CellResult, Session

_TEXT = "for _ in range(5_000):\n    print('x' * 999)"
_FIGURES = """
import matplotlib.pyplot as plt
for number in range(10):
    plt.plot(range(number + 2))
    plt.show()
"""
_LOOP = "total = 0\nfor number in range(2_000):\n    total += number"
_CALLS = 100


def trivial_cell(setting: Setting) -> list[Measure]:
    """The cell `1`."""
    return [_compare("trivial cell", TRIVIAL, setting, setting.effort.cells, "<= 1.1 x")]


def much_text(setting: Setting) -> list[Measure]:
    """5 MB on standard output in 5,000 lines; our result holds what the policy allows, the plain one everything."""
    return [_compare("5 MB of text in 5,000 lines", _TEXT, setting, setting.effort.rounds)]


def ten_figures(setting: Setting) -> list[Measure]:
    """Ten plots."""
    return [_compare("ten figures", _FIGURES, setting, setting.effort.rounds)]


def host_call(setting: Setting) -> list[Measure]:
    """The time of one call of a host function, without that of the cell."""
    name, goal = "call of a host function", "< 2"
    if not has("functions", Session.run):
        return [Measure(name, "ms", None, goal=goal, note="this version has no host functions")]
    functions: dict[str, Callable[[int], int]] = {"double": lambda number: 2 * number}
    calls = f"for _ in range({_CALLS}):\n    host.double(1)"
    with setting.sandbox.open() as session:
        long, short = medians(
            alternate(
                setting.effort.rounds,
                lambda: milliseconds(lambda: _run(session, calls, functions=functions)),
                lambda: milliseconds(lambda: _run(session, "host.double(1)", functions=functions)),
            )
        )
    return [Measure(name, "ms", (long - short) / (_CALLS - 1), goal=goal)]


def traced_cell(setting: Setting) -> list[Measure]:
    """A loop of 4,000 lines with a trace, compared with the same cell without one."""
    name = "loop of 4,000 lines with a trace (plain: ours without)"
    if not has("trace", Session.run):
        return [Measure(name, "ms", None, note="this version does not trace")]
    with setting.sandbox.open() as session:
        traced, untraced = alternate(
            setting.effort.rounds,
            lambda: milliseconds(lambda: _run(session, _LOOP, trace=True)),
            lambda: milliseconds(lambda: _run(session, _LOOP)),
        )
    return [Measure(name, "ms", median(traced), median(untraced))]


def _compare(name: str, code: str, setting: Setting, rounds: int, goal: str = "") -> Measure:
    """The same cell in a session and in a plain kernel; the first run of each does not count."""
    with setting.sandbox.open() as session, PlainKernel() as kernel:
        check(session.run(code))
        kernel.run(code)
        ours, plain = medians(
            alternate(
                rounds,
                lambda: milliseconds(lambda: check(session.run(code))),
                lambda: milliseconds(lambda: kernel.run(code)),
            )
        )
    return Measure(name, "ms", ours, plain, goal)


def _run(session: Session, code: str, **options: Any) -> CellResult:
    """`session.run` with parameters that older versions lack."""
    run: Callable[..., CellResult] = session.run
    return check(run(code, **options))


_WIDTH, _HEIGHT = 4000, 3000
_SEED = 20260101
_NAME = "image_clue_0"
_READ = f"{_NAME}.getpixel((2000, 1500))"  # makes a lazy image decode its file
_CROP = f"""
from PIL import ImageEnhance
import matplotlib.pyplot as plt
crop = {_NAME}.crop((1000, 800, 2200, 1700))
sharper = ImageEnhance.Contrast(crop).enhance(1.8)
plt.imshow(sharper)
plt.show()
"""
_SECOND_CELL = "print(sharper.size, crop.size == sharper.size)"
_EXPECTED_TEXT = "(1200, 900) True\n"


def define(setting: Setting) -> list[Measure]:
    """From a path to a variable, and to one of its pixels; the plain kernel opens the path itself."""
    code = _open(setting.image)
    with setting.sandbox.open() as session, PlainKernel() as kernel:
        kernel.run(code)
        ours, plain, ours_read, plain_read = medians(
            alternate(
                setting.effort.rounds,
                lambda: milliseconds(lambda: session.define({_NAME: setting.image})),
                lambda: milliseconds(lambda: kernel.run(code)),
                lambda: milliseconds(lambda: check(session.run(_READ))),
                lambda: milliseconds(lambda: kernel.run(_READ)),
            )
        )
    return [
        Measure("12-megapixel JPEG, defined", "ms", ours, plain, "< 10"),
        Measure("12-megapixel JPEG, defined and a pixel read", "ms", ours + ours_read, plain + plain_read),
    ]


def crop_and_show(setting: Setting) -> list[Measure]:
    """Open, crop, change the contrast, show a figure, run a second cell, close."""
    ours, plain = alternate(
        setting.effort.rounds,
        lambda: milliseconds(lambda: _job(setting)),
        lambda: milliseconds(lambda: _plain_job(setting.image)),
    )
    return [
        Measure("12-megapixel JPEG, whole crop-and-show job", "ms", median(ours), median(plain), "< 0.4 x")
    ]


def make_image(folder: Path) -> Path:
    """A reproducible JPEG of about 4 MB, with shapes of many sizes and fine grain, as in photos."""
    import numpy as np
    from PIL import Image

    noise = np.random.default_rng(_SEED)
    pixels = noise.normal(0, 9, (_HEIGHT, _WIDTH, 1)).astype(np.float32) + 128
    for cells in (4, 16, 64, 256):
        coarse = noise.uniform(0, 255, (cells * 3 // 4, cells, 3)).astype(np.uint8)
        soft = Image.fromarray(coarse).resize((_WIDTH, _HEIGHT), Image.Resampling.BICUBIC)
        pixels = pixels + (np.asarray(soft, np.float32) - 128) * (2 / cells**0.5)
    path = folder / "photo.jpg"
    Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(path, quality=88)
    return path


def _open(image: Path) -> str:
    return f"from PIL import Image\n{_NAME} = Image.open({str(image)!r})"


def _job(setting: Setting) -> None:
    with setting.sandbox.open({_NAME: setting.image}) as session:
        first, second = check(session.run(_CROP)), check(session.run(_SECOND_CELL))
    _check_output(len(first.figures), second.text)


def _plain_job(image: Path) -> None:
    with PlainKernel() as kernel:
        first, second = kernel.run(_open(image) + _CROP), kernel.run(_SECOND_CELL)
    _check_output(len(first.figures), second.text)


def _check_output(figures: int, text: str) -> None:
    if (figures, text) != (1, _EXPECTED_TEXT):
        raise RuntimeError(
            f"the job showed {figures} figures and printed {text!r}, not 1 and {_EXPECTED_TEXT!r}"
        )


def flood(setting: Setting) -> list[Measure]:
    """One cell prints lines of 1 MB; the plain caller keeps all of them."""
    megabytes = setting.effort.flood_mb
    code = _flood(megabytes, 10**6)
    with setting.sandbox.open() as session:
        ours = _cost(lambda: session.run(code))
    with PlainKernel() as kernel:
        plain = _cost(lambda: kernel.run(code))
    labels = (("time", "s"), ("CPU time of the host", "s"), ("growth of the host", "MB"))
    return [
        Measure(f"{megabytes} MB printed: {label}", unit, of_ours, of_plain)
        for (label, unit), of_ours, of_plain in zip(labels, ours, plain, strict=True)
    ]


def floods_at_once(setting: Setting) -> list[Measure]:
    """Several sessions print at once; plain kernels would need memory for all of it."""
    count, mebibytes = setting.effort.flooding, setting.effort.each_flood_mib
    code = _flood(mebibytes, 2**20)
    with ExitStack() as stack:
        sessions = [stack.enter_context(setting.sandbox.open()) for _ in range(count)]
        with ThreadPoolExecutor(count) as pool:
            seconds, busy, growth = _cost(lambda: list(pool.map(lambda session: session.run(code), sessions)))
    label = f"{count} sessions print {mebibytes} MiB each:"
    return [
        Measure(f"{label} time", "s", seconds),
        Measure(f"{label} CPU time of the host", "s", busy),
        Measure(f"{label} growth of the host", "MB", growth, goal="<= 64"),
    ]


def _flood(lines: int, line_bytes: int) -> str:
    return f"for _ in range({lines}):\n    print('x' * {line_bytes - 1})"


def _cost(work: Callable[[], object]) -> tuple[float, float, float]:
    """Wall-clock seconds, CPU seconds of this process, and the peak growth of its memory in MiB."""
    reset_peak()
    before, started, busy = rss_mb(), time.perf_counter(), time.process_time()
    result = work()
    cost = time.perf_counter() - started, time.process_time() - busy, peak_mb() - before
    del result  # kept until here, as a caller would
    return cost
