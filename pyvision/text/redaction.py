"""Remove secrets from what is recorded, shown or raised.

Only exact secrets are removed (`config.secret_fields` lists them), each also in the form that it has in a URL, and only
from the values of texts: never from the names of fields, from numbers or from bytes.

Covered: a secret of at least 12 characters, or of at least 8 with a letter and a digit among them.
Not covered: a shorter secret, such as "x" or "password". Removing it would change texts that have nothing to do with
it, so a text that repeats it keeps it; the configuration is still recorded without it. Nor is a secret found that is
encoded in another way, split between two texts, or used as the name of a field.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

REDACTED = "[secret]"
_LONG, _LONG_IF_MIXED = 12, 8  # characters from which a match of a secret is no accident
_MIXED = re.compile(r"(?=.*[A-Za-z])(?=.*\d)", re.DOTALL)
_DIGEST = re.compile("[0-9a-f]{64}")


class Redactor:
    """Removes these secrets; one that is too short to be removed safely is ignored."""

    def __init__(self, secrets: Iterable[str]) -> None:
        found = {secret for secret in secrets if is_redactable(secret)}
        forms = found | {quote(secret, safe="", errors="replace") for secret in found}
        longest_first = sorted(forms, key=lambda form: (-len(form), form))
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if forms else None

    def text(self, text: str) -> str:
        """The text with `[secret]` in the place of every secret."""
        return self._pattern.sub(REDACTED, text) if self._pattern else text

    def value(self, value: Any, exempt: frozenset[tuple[str, str]] = frozenset()) -> Any:
        """The same for plain values: every text among them is redacted, names of fields are not.

        exempt: (field, text) pairs that stay, because the format of a record writes them. So does a digest in `sha256`.
        A field `opaque`, in which one changed byte makes an endpoint reject it, becomes None if it holds a secret.
        """
        match value:
            case str() | PurePath():
                return self.text(str(value))
            case None | int() | float() | bytes():
                return value
            case Mapping():
                return {name: self._field(name, item, exempt) for name, item in value.items()}
            case list() | tuple() | set() | frozenset():
                return [self.value(item, exempt) for item in value]
            case _:
                return value

    def _field(self, name: object, value: Any, exempt: frozenset[tuple[str, str]]) -> Any:
        """A field of a record. What a provider wants back byte for byte stays whole, or is left out whole."""
        if name == "opaque":
            return value if self.value(value) == value else None
        return value if _is_written_by_format(name, value, exempt) else self.value(value, exempt)


def is_redactable(secret: str) -> bool:
    """Whether finding it in a text is no accident, so that it can be removed without harm."""
    return len(secret) >= (_LONG_IF_MIXED if _MIXED.match(secret) else _LONG)


def _is_written_by_format(name: object, value: object, exempt: frozenset[tuple[str, str]]) -> bool:
    if not isinstance(value, str):
        return False
    return (name, value) in exempt or (name == "sha256" and _DIGEST.fullmatch(value) is not None)
