"""Draw docs/demo.png: the chat of the demo in a real browser, after a real question to the offline model.

python docs/shoot_demo.py [FILE]    needs what `scripts/setup test` brings, chromium among it
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
QUESTION = "Are the two circles touching? Answer with Yes or No."


def main() -> None:
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "demo.png"
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "app.py", "--model", "offline", "--port", "0", "--out", out]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as demo:
            assert demo.stdout is not None
            try:
                shoot(demo.stdout.readline().strip(), file)
            finally:
                demo.terminate()


def shoot(url: str, file: Path) -> None:
    picture = ROOT / "benchmarks/data/vlms-are-blind/images/touchingcircle-000.png"
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 1180})
        page.goto(url)
        page.set_input_files("#box input[type=file]", str(picture))
        page.wait_for_selector("#box img")
        page.fill("#box textarea", QUESTION)
        page.keyboard.press("Enter")
        page.wait_for_selector("#talk .outcome", timeout=60_000)
        page.locator("#question-1 details summary", has_text="Cell").first.click()
        page.wait_for_timeout(1500)
        page.screenshot(path=file)
        browser.close()


if __name__ == "__main__":
    main()
