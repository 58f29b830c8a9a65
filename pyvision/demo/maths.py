"""Formulas of LaTeX as MathML, which browsers draw themselves: the part of LaTeX that models use in answers.

Covered: fractions, roots, indices, Greek letters, relations, functions, brackets, text, accents, matrices and cases.
A formula that holds anything else is shown as its source. Not covered: macros, alignment, colours.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from pyvision.pages.markup import Markup, element, join

_MAX_CHARS = 2_000
_MAX_DEPTH = 40
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\s+|.", re.DOTALL)


def _table(text: str) -> dict[str, str]:
    """Names and signs, in turn."""
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=True))


_LETTERS = _table("""
    alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ
    sigma σ tau τ upsilon υ phi φ chi χ psi ψ omega ω varepsilon ε varphi φ vartheta ϑ Gamma Γ Delta Δ Theta Θ
    Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω ell ℓ infty ∞ emptyset ∅ partial ∂ nabla ∇ hbar ℏ degree °
    dots … ldots … cdots ⋯
""")
_OPERATORS = _table("""
    times × cdot ⋅ div ÷ pm ± mp ∓ ast ∗ star ⋆ circ ∘ le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ approx ≈ equiv ≡ sim ∼ cong ≅
    propto ∝ ll ≪ gg ≫ in ∈ notin ∉ mid ∣ subset ⊂ subseteq ⊆ cup ∪ cap ∩ setminus ∖ forall ∀ exists ∃ to →
    rightarrow → leftarrow ← Rightarrow ⇒ implies ⟹ iff ⟺ angle ∠ perp ⊥ parallel ∥ triangle △ neg ¬ land ∧ lor ∨
    sum ∑ prod ∏ int ∫ langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ vert | Vert ‖ therefore ∴ because ∵
    prime ′ { { } } % % $ $ # # & & _ _ | ‖
""")
_SPACES = {",": ".17em", ":": ".22em", ";": ".28em", " ": ".3em", "quad": "1em", "qquad": "2em", "!": "0"}
_FUNCTIONS = frozenset(
    "sin cos tan cot sec csc arcsin arccos arctan log ln exp lim max min gcd det dim mod sup inf".split()  # noqa: SIM905
)
_TEXTS = {"text", "mathrm", "textbf", "mathbf", "textit", "operatorname", "mbox", "texttt", "mathit"}
_BOLD = {"mathbf", "textbf"}
_ACCENTS = {"overline": "¯", "bar": "¯", "hat": "^", "vec": "→", "tilde": "~", "dot": "˙", "widehat": "^"}
_FENCES = {"matrix": "", "pmatrix": "()", "bmatrix": "[]", "vmatrix": "||", "cases": "{", "array": ""}
_IGNORED = {"displaystyle", "textstyle", "limits", "nolimits", "left", "right", "big", "Big", "bigg", "Bigg"}
_LARGE = {"sum", "prod", "lim", "max", "min"}


class _UnknownError(Exception):
    """The formula holds something that is not covered."""


def mathml(source: str, *, is_block: bool = False) -> Markup:
    """The formula as MathML; as its source if it holds something that is not covered."""
    try:
        if len(source) > _MAX_CHARS:
            raise _UnknownError
        reader = _Reader(_TOKEN.findall(source))
        row = reader.row(())
        if reader.peek is not None:
            raise _UnknownError
    except _UnknownError:
        return element("code", source, class_="formula-source")
    return element("math", element("mrow", *row), display="block" if is_block else None, alttext=source)


@dataclass(slots=True)
class _Reader:
    tokens: list[str]
    at: int = 0
    depth: int = 0

    @property
    def peek(self) -> str | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def next(self) -> str:
        token = self.peek
        if token is None:
            raise _UnknownError
        self.at += 1
        return token

    def row(self, ends: tuple[str, ...]) -> list[Markup]:
        """What comes before one of these tokens, which stays unread, or before the end."""
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise _UnknownError
        parts: list[Markup] = []
        while (token := self.peek) is not None and token not in ends:
            if token in ("}", "&", "\\\\", "\\end", "\\right"):
                raise _UnknownError
            if token.isspace():
                self.at += 1
            else:
                parts.append(self.atom_with_indices())
        self.depth -= 1
        return parts

    def atom_with_indices(self) -> Markup:
        """An atom with its indices."""
        name = (self.peek or "").removeprefix("\\")
        base = self.atom()
        found: dict[str, Markup] = {}
        while True:
            self.skip_spaces()
            mark = self.peek
            if mark == "'" and "^" not in found:
                self.at += 1
                found["^"] = element("mo", "′")
            elif mark in ("_", "^") and mark not in found:
                self.at += 1
                found[mark] = self.argument()
            else:
                break
        under, over = ("munder", "mover") if name in _LARGE else ("msub", "msup")
        match found:
            case {"_": low, "^": high}:
                return element(f"{under}over" if name in _LARGE else "msubsup", base, low, high)
            case {"_": low}:
                return element(under, base, low)
            case {"^": high}:
                return element(over, base, high)
        return base

    def argument(self) -> Markup:
        """A group in braces, or the next atom alone."""
        self.skip_spaces()
        return self.group() if self.peek == "{" else self.atom()

    def group(self) -> Markup:
        self.expect("{")
        parts = self.row(("}",))
        self.expect("}")
        return element("mrow", *parts)

    def atom(self) -> Markup:
        token = self.next()
        if token == "{":
            self.at -= 1
            return self.group()
        if token.startswith("\\"):
            return self.command(token[1:])
        if token in "^_":
            raise _UnknownError
        if token[0].isdigit():
            return element("mn", token)
        return element("mi" if token.isalpha() else "mo", "−" if token == "-" else token)

    def command(self, name: str) -> Markup:
        if name in _LETTERS:
            return element("mi", _LETTERS[name])
        if name in _OPERATORS:
            return element("mo", _OPERATORS[name])
        if name in _SPACES:
            return element("mspace", width=_SPACES[name])
        if name in _FUNCTIONS:
            return element("mi", name)
        if name in _IGNORED:
            return self.bracket() if name in ("left", "right") else join()
        if name in _TEXTS:
            return self.text(is_bold=name in _BOLD)
        if name in _ACCENTS:
            return element("mover", self.argument(), element("mo", _ACCENTS[name]), accent="true")
        return _COMMANDS[name](self) if name in _COMMANDS else self.unknown()

    def unknown(self) -> Markup:
        raise _UnknownError

    def bracket(self) -> Markup:
        """The bracket after `left`, with what it holds, up to the one after `right`."""
        opening = self.delimiter()
        self.depth += 1
        parts = self.row(("\\right",))
        self.depth -= 1
        self.expect("\\right")
        return element("mrow", opening, *parts, self.delimiter())

    def delimiter(self) -> Markup:
        self.skip_spaces()
        token = self.next()
        if token == ".":
            return join()
        name = token.removeprefix("\\")
        if token.startswith("\\") and name not in _OPERATORS:
            raise _UnknownError
        return element("mo", _OPERATORS[name] if token.startswith("\\") else token, stretchy="true")

    def text(self, *, is_bold: bool) -> Markup:
        return element("mtext", self.plain(), style="font-weight: bold" if is_bold else None)

    def plain(self) -> str:
        """The characters between braces, as they are."""
        self.skip_spaces()
        self.expect("{")
        characters = []
        while (token := self.next()) != "}":
            if token == "{" or (token.startswith("\\") and token[1:].isalpha()):
                raise _UnknownError
            characters.append(token.removeprefix("\\"))
        return "".join(characters)

    def fraction(self) -> Markup:
        return element("mfrac", self.digit() or self.argument(), self.digit() or self.argument())

    def digit(self) -> Markup | None:
        r"""One digit of a number that follows, as in `\frac12`."""
        self.skip_spaces()
        token = self.peek
        if token is None or not token[0].isdigit():
            return None
        self.tokens[self.at : self.at + 1] = [token[0], token[1:]] if token[1:] else [token]
        return element("mn", self.next())

    def root(self) -> Markup:
        self.skip_spaces()
        if self.peek != "[":
            return element("msqrt", self.argument())
        self.at += 1
        index = element("mrow", *self.row(("]",)))
        self.expect("]")
        return element("mroot", self.argument(), index)

    def box(self) -> Markup:
        return self.argument()

    def environment(self) -> Markup:
        name = self.plain()
        if name not in _FENCES:
            raise _UnknownError
        rows: list[list[Markup]] = [[]]
        while True:
            rows[-1].append(element("mtd", *self.row(("&", "\\\\", "\\end"))))
            token = self.next()
            if token == "\\end":
                break
            if token == "\\\\":
                rows.append([])
        if self.plain() != name:
            raise _UnknownError
        fence = _FENCES[name]
        table = element("mtable", *(element("mtr", *row) for row in rows))
        left = element("mo", fence[0], stretchy="true") if fence else None
        right = element("mo", fence[1], stretchy="true") if len(fence) > 1 else None
        return element("mrow", left, table, right)

    def skip_spaces(self) -> None:
        while self.peek is not None and self.peek.isspace():
            self.at += 1

    def expect(self, token: str) -> None:
        if self.next() != token:
            raise _UnknownError


_COMMANDS: dict[str, Callable[[_Reader], Markup]] = {
    "frac": _Reader.fraction,
    "dfrac": _Reader.fraction,
    "tfrac": _Reader.fraction,
    "sqrt": _Reader.root,
    "boxed": _Reader.box,
    "begin": _Reader.environment,
}
