"""Which texts of a model configuration are secret, and the configuration without them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, fields, replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from pyvision.config.model_config import ModelConfig, without_credentials

# The names of fields, in lower case and with `_` for `-`, whose texts are secret: these, and any that ends in `_key`, …
_SECRETS = {
    "access_token",
    "api_token",
    "auth_token",
    "bearer_token",
    "cookie",
    "id_token",
    "refresh_token",
    "session_token",
    "token",
    "x_auth_token",
}
_SECRET_ENDINGS = {"apikey", "authorization", "key", "keys", "passwd", "password", "secret"}
_PUBLIC = {"cache_key", "prompt_cache_key"}
_SCHEMES = {"basic", "bearer"}  # of an authorisation header


def without_secrets(config: ModelConfig) -> dict[str, Any]:
    """The configuration as it may be written to disk: no secrets, and only what differs from the defaults."""
    base_url = config.base_url and without_credentials(config.base_url)
    plain = asdict(replace(config, api_key=None, api_keys=(), base_url=base_url, extra_body={}))
    plain["extra_body"] = _without_secret_fields(config.extra_body)
    for key in ("file", "api_key_file"):
        plain[key] = str(plain[key]) if plain[key] else None
    usual = {option.name: option.default for option in fields(config)}
    always = ("timeout_s", "retry_s")
    return {
        key: value
        for key, value in plain.items()
        if value not in (None, {}, ()) and (key in always or value != usual[key])
    }


def secrets(config: ModelConfig) -> tuple[str, ...]:
    """Every text of the configuration that no file, log or message may contain."""
    parts = urlsplit(config.base_url or "")
    credential = parts.password or parts.username  # a key alone stands in place of the name
    queried = [value for name, value in parse_qsl(parts.query) if _is_secret(name, value)]
    found = (*config.keys, credential, *queried, *_texts_of_secrets(config.extra_body))
    return tuple(dict.fromkeys(text for text in found if text))


def _without_secret_fields(value: Any) -> Any:
    match value:
        case dict():
            return {
                name: "(withheld)" if _is_secret(name, item) else _without_secret_fields(item)
                for name, item in value.items()
            }
        case list() | tuple():
            return [_without_secret_fields(item) for item in value]
        case _:
            return value


def _texts_of_secrets(value: Any, *, is_secret: bool = False) -> Iterator[str]:
    """The texts of all fields whose names say that they are secret; of `Bearer KEY` the key as well."""
    match value:
        case dict():
            for name, item in value.items():
                yield from _texts_of_secrets(item, is_secret=_is_secret(name, item))
        case list() | tuple():
            for item in value:
                yield from _texts_of_secrets(item, is_secret=is_secret)
        case str() if is_secret:
            scheme, _, key = value.partition(" ")
            yield from (value, key) if scheme.lower() in _SCHEMES else (value,)


def _is_secret(name: str, value: object) -> bool:
    """Whether a field of this name holds a secret. `min_tokens` does not, nor does a `key` that a schema describes."""
    if isinstance(value, dict):
        return False
    plain = name.lower().replace("-", "_")
    return plain not in _PUBLIC and (plain in _SECRETS or plain.rpartition("_")[2] in _SECRET_ENDINGS)
