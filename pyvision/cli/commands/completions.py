"""`pyvision completions`: print what a shell needs to complete commands, options, their values and files."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

Words: TypeAlias = Mapping[str, tuple[str, ...]]
"""Command, such as `run` or `bench list` (empty: a question), and what may follow it; or command and option, and the
values of the option, of which the first word of the key is empty for a question.
"""

_BASH = """\
_pyvision() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command="" words="" hidden="" word
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$command $word" in
{paths}
        esac
    done
    case "$command $previous" in
{values}
    esac
    if [[ -n $words ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$current"))
        return
    fi
    case "$command" in
{words}
    esac
    [[ $current == -* ]] || hidden="-*"
    COMPREPLY=($(compgen -W "$words" -X "$hidden" -- "$current"))
    local IFS=$'\\n'
    [[ $current == -* ]] || COMPREPLY+=($(compgen -f -- "$current"))
}}
complete -o filenames -F _pyvision pyvision
"""
_ZSH = """\
#compdef pyvision
_pyvision() {{
    local current=$words[CURRENT] previous=$words[CURRENT-1] command="" found="" word
    for word in "${{(@)words[2,CURRENT-1]}}"; do
        case "$command $word" in
{paths}
        esac
    done
    case "$command $previous" in
{values}
    esac
    if [[ -n $found ]]; then
        compadd -- ${{=found}}
        return
    fi
    case "$command" in
{words}
    esac
    if [[ $current == -* ]]; then
        compadd -- ${{=found}}
    else
        compadd -- ${{${{=found}}:#-*}}
        _files
    fi
}}
(( $+functions[compdef] )) || {{ autoload -U compinit && compinit }}
compdef _pyvision pyvision
"""


def add_completions(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "completions",
        description='Print the completions of a shell. In ~/.bashrc or ~/.zshrc: eval "$(pyvision completions bash)", '
        "or zsh; for fish: pyvision completions fish > ~/.config/fish/completions/pyvision.fish",
    )
    parser.add_argument("shell", choices=tuple(_SHELLS), metavar="SHELL", help="bash, zsh or fish")
    parser.set_defaults(call=print_completions)


def print_completions(options: argparse.Namespace) -> int:
    """Print the script; returns the exit code."""
    from pyvision.cli.main import whole_parser

    words, values = dict(_words(whole_parser())), dict(_values(whole_parser()))
    words[""] += tuple(
        word for word in words["run"] if word not in words[""]
    )  # of a question without a command
    values |= {key.removeprefix("run"): found for key, found in values.items() if key.startswith("run ")}
    print(_SHELLS[options.shell](words, values), end="")  # noqa: T201 - what the command is for
    return 0


def _words(parser: argparse.ArgumentParser, path: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    """What may follow a command: parts, values of its argument, options."""
    visible = [action for action in parser._actions if action.help != argparse.SUPPRESS]
    first = [name for action in visible if not action.option_strings for name in _choices(action)]
    yield path, (*first, *(flag for action in visible for flag in action.option_strings))
    for name, part in _parts(parser):
        yield from _words(part, f"{path} {name}".strip())


def _values(parser: argparse.ArgumentParser, path: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    """The known values of the options of a command; none where a file or anything else may follow."""
    for action in parser._actions:
        for flag in action.option_strings:
            if action.help != argparse.SUPPRESS and (found := _choices(action)):
                yield f"{path} {flag}", found
    for name, part in _parts(parser):
        yield from _values(part, f"{path} {name}".strip())


def _parts(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def _choices(action: argparse.Action) -> tuple[str, ...]:
    from pyvision.config.model_config import list_shipped
    from pyvision.solve import STRATEGIES

    if action.choices:
        return tuple(map(str, action.choices))
    match action.dest:
        case "strategy":
            return tuple(STRATEGIES)
        case "model" | "provider":
            return tuple(list_shipped())
    return ()


def _bash(words: Words, values: Words) -> str:
    return _BASH.format(paths=_paths(words), words=_cases(words, "words"), values=_cases(values, "words"))


def _zsh(words: Words, values: Words) -> str:
    return _ZSH.format(paths=_paths(words), words=_cases(words, "found"), values=_cases(values, "found"))


def _paths(words: Words) -> str:
    """Cases that find the command in the words of a line."""
    before = {path: path.rpartition(" ") for path in words if path}
    return "\n".join(
        f'            "{command} {part}") command="{path}" ;;' for path, (command, _, part) in before.items()
    )


def _cases(table: Words, variable: str) -> str:
    return "\n".join(f'        "{key}") {variable}="{" ".join(found)}" ;;' for key, found in table.items())


def _fish(words: Words, values: Words) -> str:
    lines = []
    for path, found in words.items():
        names = [word for word in found if not word.startswith("-")]
        for word in found:
            condition = _fish_condition(path, names, words, is_option=word.startswith("-"))
            lines.append(
                f"complete -c pyvision -n '{condition}' {_fish_word(word, values.get(f'{path} {word}'))}"
            )
    return "\n".join(lines) + "\n"


def _fish_word(word: str, values: tuple[str, ...] | None) -> str:
    if not word.startswith("-"):
        return f"-a {word}"
    option = f"-l {word[2:]}" if word.startswith("--") else f"-s {word[1:]}"
    return f"{option} -x -a '{' '.join(values)}'" if values else option


def _fish_condition(path: str, names: list[str], words: Words, *, is_option: bool) -> str:
    if not path and not is_option:
        return "__fish_use_subcommand"
    seen = "; and ".join(f"__fish_seen_subcommand_from {name}" for name in path.split()) or "true"
    names = [name for name in names if f"{path} {name}".strip() in words]
    return f"{seen}; and not __fish_seen_subcommand_from {' '.join(names)}" if names else seen


_SHELLS: Mapping[str, Callable[[Words, Words], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
