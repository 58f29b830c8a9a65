"""Model configuration: `api_configs/*.json`, the environment and flags become one frozen ModelConfig.

A flag goes before the environment, the environment before the file. A variable that is empty is not set.

PYVISION_MODEL        what --model takes, for when neither --model nor --config is given
PYVISION_BASE_URL     base_url        (OPENAI_BASE_URL too, for files that name no base_url)
PYVISION_API_KEY      api_key         (before the variable that the file names as api_key_env)
PYVISION_TEMPERATURE  temperature
PYVISION_MAX_TOKENS   max_tokens
PYVISION_TIMEOUT_S    timeout_s
PYVISION_RETRY_S      retry_s

All but the first concern endpoints only (wire `openai`). With neither flag nor PYVISION_MODEL, `openai` is
chosen when OPENAI_API_KEY is set, else `offline`.
"""

from __future__ import annotations

import ipaddress
import json
import math
import types
import typing
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, overload
from urllib.parse import urlsplit, urlunsplit

from pyvision.errors import ConfigError
from pyvision.resources import data_folder

Options = TypeVar("Options")

OPENAI_URL = "https://api.openai.com/v1"
_ABOVE_ZERO = ("max_tokens", "timeout_s", "retry_s")
_NEEDED = {"openai": ("model",), "replayed": ("file",)}
_VARIABLES: Mapping[str, tuple[str, type]] = {
    "PYVISION_BASE_URL": ("base_url", str),
    "PYVISION_API_KEY": ("api_key", str),
    "PYVISION_TEMPERATURE": ("temperature", float),
    "PYVISION_MAX_TOKENS": ("max_tokens", int),
    "PYVISION_TIMEOUT_S": ("timeout_s", float),
    "PYVISION_RETRY_S": ("retry_s", float),
}


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """One model behind one wire; the keys of a configuration file are exactly these fields.

    timeout_s: longest silence of the endpoint. retry_s: how long failures worth it are retried, in all.
    extra_body: merged into every request. file: recorded replies, or a script, relative to the configuration.
    """

    wire: Literal["openai", "offline", "scripted", "replayed"]
    model: str | None = None
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    api_key_env: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    timeout_s: float = 300.0
    retry_s: float = 600.0
    extra_body: dict[str, Any] = field(default_factory=dict)
    replies: tuple[str, ...] | None = None
    file: Path | None = None


def load_model_config(name: str | None, file: Path | None, environ: Mapping[str, str]) -> ModelConfig:
    """The model of `--model NAME[:MODEL]` or `--config FILE`, or the one the environment chooses.

    Raises ConfigError: one line that names the file or variable, what is wrong with it, and the way out.
    """
    environ = {key: value.strip() for key, value in environ.items() if value.strip()}
    if name is None and file is None:
        name = environ.get("PYVISION_MODEL") or ("openai" if "OPENAI_API_KEY" in environ else "offline")
    config = _read(file) if file is not None else _shipped(name or "")
    if config.wire == "openai":
        config = _with_key(_with_environment(config, environ), environ)
    return _checked(config, str(file or name))


def without_secrets(config: ModelConfig) -> dict[str, Any]:
    """What may be written to disk: no key, no password in the URL, only the fields that are set."""
    base_url = config.base_url and _without_credentials(config.base_url)
    told = asdict(replace(config, api_key=None, base_url=base_url, extra_body={}))
    told["extra_body"] = {key: _told(key, value) for key, value in config.extra_body.items()}
    told["file"] = str(config.file) if config.file else None
    return {key: value for key, value in told.items() if value not in (None, {}, ())}


def is_local(base_url: str | None) -> bool:
    """Whether the endpoint runs on this machine, and so is expected to need no key."""
    host = urlsplit(base_url or OPENAI_URL).hostname or ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return address.is_loopback or address.is_unspecified


@overload
def with_options(strategy: type[Options], options: Mapping[str, str]) -> Options: ...
@overload
def with_options(strategy: Options, options: Mapping[str, str]) -> Options: ...
def with_options(strategy: Any, options: Mapping[str, str]) -> Any:
    """The dataclass (or its class, with defaults) with fields set as `--set key=value` says, in their types.

    `none` unsets a field that may be None. Raises ConfigError for unknown keys and values of the wrong type.
    """
    kind = strategy if isinstance(strategy, type) else type(strategy)
    hints = typing.get_type_hints(kind) if options else {}
    known = {option.name: hints[option.name] for option in fields(kind)} if options else {}
    values = {key: _converted(kind.__name__, key, value, known) for key, value in options.items()}
    return strategy(**values) if isinstance(strategy, type) else replace(strategy, **values)


def _shipped(name: str) -> ModelConfig:
    folder = data_folder("api_configs")
    known = sorted(path.stem for path in folder.glob("*.json"))
    stem, colon, model = name.partition(":")
    if stem not in known or (colon and not model):
        raise ConfigError(
            f"unknown model {name!r}; known names are {', '.join(known)}, each also as NAME:MODEL-ID "
            "(openai:gpt-4.1); --config FILE takes a file"
        )
    config = _read(folder / f"{stem}.json")
    if colon and config.wire != "openai":
        raise ConfigError(f"model {name!r}: {stem} takes no model id; say {stem!r}")
    return replace(config, model=model) if model else config


def _read(path: Path) -> ModelConfig:
    text = _text(path)
    known = [option.name for option in fields(ModelConfig)]
    for key in _object(path, text):
        if key not in known:
            raise ConfigError(f"{path}: unknown key {key!r}; known keys are {', '.join(known)}")
    config = _validated(path, text)
    return replace(config, file=path.parent / config.file) if config.file else config


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); give a JSON file") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text (byte {error.start}); give a JSON file") from error


def _object(path: Path, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(
            f"{path}: not JSON at line {error.lineno} column {error.colno}: {error.msg}"
        ) from error
    except RecursionError as error:
        raise ConfigError(f"{path}: nested too deeply to be a configuration") from error
    if not isinstance(value, dict):
        raise ConfigError(
            f'{path}: holds a {type(value).__name__}, not an object such as {{"wire": "openai"}}'
        )
    return value


def _validated(path: Path, text: str) -> ModelConfig:
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(ModelConfig).validate_json(text, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]  # an input may be the key
        where = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{path}: {where}: {first['msg'].lower()}") from None


def _with_environment(config: ModelConfig, environ: Mapping[str, str]) -> ModelConfig:
    if config.base_url is None and "OPENAI_BASE_URL" in environ:
        config = replace(config, base_url=environ["OPENAI_BASE_URL"])
    for variable, (key, kind) in _VARIABLES.items():
        if variable in environ:
            config = replace(config, **{key: _number(variable, environ[variable], kind)})
    return config


def _number(variable: str, text: str, kind: type) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise ConfigError(f"{variable} is {text!r}, not a number; unset it or give one") from None


def _with_key(config: ModelConfig, environ: Mapping[str, str]) -> ModelConfig:
    key = config.api_key or environ.get(config.api_key_env or "")
    if not key and config.api_key_env and not is_local(config.base_url):
        where = _without_credentials(config.base_url or OPENAI_URL)
        raise ConfigError(f"no key for {where}; set {config.api_key_env}, or use --model offline without one")
    return replace(config, api_key=key or None)


def _checked(config: ModelConfig, source: str) -> ModelConfig:
    for key in _NEEDED.get(config.wire, ()):
        if not getattr(config, key):
            raise ConfigError(f"{source}: wire {config.wire!r} needs {key!r}; add it")
    for key in _ABOVE_ZERO:
        value = getattr(config, key)
        if value is not None and not 0 < value < math.inf:
            raise ConfigError(f"{source}: {key} is {value}; it must be above 0")
    if config.temperature is not None and not 0 <= config.temperature < math.inf:
        raise ConfigError(f"{source}: temperature is {config.temperature}; it must be 0 or more")
    if config.base_url is not None and not _is_web_address(config.base_url):
        told = _without_credentials(config.base_url)
        raise ConfigError(f"{source}: base_url {told!r} is no address such as http://127.0.0.1:8000/v1")
    return config


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, brackets that do not match
        return False


def _without_credentials(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return url.rpartition("@")[2]
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _told(key: str, value: Any) -> Any:
    secret = any(word in key.lower() for word in ("key", "secret", "password", "authorization", "auth_token"))
    return "(withheld)" if secret else value


def _converted(owner: str, key: str, text: str, known: Mapping[str, Any]) -> Any:
    from pydantic import TypeAdapter, ValidationError

    if key not in known:
        told = ", ".join(f"{name} ({_spelled(hint)})" for name, hint in known.items())
        raise ConfigError(
            f"{owner} has no option {key!r}; " + (f"its options are {told}" if told else "it has none")
        )
    hint = known[key]
    if text.lower() == "none" and types.NoneType in get_args(hint):
        return None
    try:
        return TypeAdapter(hint).validate_strings(text)
    except ValidationError:
        raise ConfigError(f"option {key} is {text!r}; it takes {_spelled(hint)}") from None


def _spelled(hint: Any) -> str:
    if typing.get_origin(hint) is Literal:
        return " or ".join(repr(choice) for choice in get_args(hint))
    if get_args(hint):
        return " or ".join(_spelled(part) for part in get_args(hint))
    return {"NoneType": "none", "Path": "path", "str": "text"}.get(hint.__name__, str(hint.__name__))
