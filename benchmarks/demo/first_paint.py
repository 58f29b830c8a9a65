"""The time to the first paint of the chat, and until it can send a question, in a browser without a cache.

The first paint shows the question box, which takes text at once. The server is warm: it has served the page before.
Each run opens a new browser context.
Run: python -m benchmarks.demo.first_paint [--runs 10]
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from statistics import median
from typing import Any

_PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.demo.first_paint", description=__doc__)
    parser.add_argument("--runs", type=int, default=10, metavar="N")
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as out:
        command = [
            sys.executable,
            "-m",
            "pyvision",
            "demo",
            "--model",
            "offline",
            "--port",
            "0",
            "--out",
            out,
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as demo:
            assert demo.stdout is not None
            try:
                times = _measure(demo.stdout.readline().strip(), runs)
            finally:
                demo.terminate()
    for name, seconds in zip(
        ("first contentful paint", "ready to send"), zip(*times, strict=True), strict=True
    ):
        print(f"{name}: median {median(seconds):.2f} s, longest {max(seconds):.2f} s, {runs} runs")
    return 0


def _measure(url: str, runs: int) -> list[tuple[float, float]]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        _open(browser, url)
        times = [_open(browser, url) for _ in range(runs)]
        browser.close()
    return times


def _open(browser: Any, url: str) -> tuple[float, float]:
    """Seconds from the start of the navigation to the first paint, and until the chat is complete."""
    page = browser.new_context().new_page()
    page.goto(url)
    page.wait_for_selector("#chat-examples button")
    box = page.evaluate("performance.now()")
    paint = page.evaluate(_PAINT)
    page.context.close()
    return paint / 1000, box / 1000


if __name__ == "__main__":
    sys.exit(main())
