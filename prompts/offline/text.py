# Read text with whichever engine is installed here.
import importlib.util
import shutil
import subprocess
import tempfile


def engine():
    """The first text engine that is installed, or None."""
    if shutil.which("tesseract"):
        return "tesseract"
    return next(
        (name for name in ("rapidocr", "rapidocr_onnxruntime") if importlib.util.find_spec(name)), None
    )


def read(name):
    """The lines that the engine reads in the picture, enlarged when it is small."""
    factor = 3 if max(picture.size) < 700 else 2 if max(picture.size) < 1400 else 1
    large = picture.convert("RGB").resize([side * factor for side in picture.size], 1)
    if name == "tesseract":
        with tempfile.NamedTemporaryFile(suffix=".png") as file:
            large.save(file.name)
            command = ["tesseract", file.name, "stdout", "--psm", str(LAYOUT)]
            return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout.splitlines()
    result = importlib.import_module(name).RapidOCR()(np.asarray(large))
    if hasattr(result, "txts"):
        return list(result.txts or ())
    return [line[1] for line in result[0] or ()]


name = engine()
lines = [line.strip() for line in read(name) if line.strip()] if name else []
print(f"engine: {name or 'none'}")
for line in lines[:40]:
    print(line)
axes = show(np.asarray(picture.convert("RGB")), " / ".join(lines[:3])[:60] or "no text read")
plt.show()
why = (
    ""
    if lines
    else "no text was read"
    if name
    else "no text engine is installed in the sandbox (install tesseract or the package rapidocr)"
)
report(text=" ".join(lines)[:300], engine=name or "", confident=bool(lines), why=why)
