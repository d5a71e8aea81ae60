"""`openprogram config`: one setting at a time."""

from __future__ import annotations

import json
from typing import Annotated, cast

import typer

from openprogram import config as settings_file
from openprogram.cli import _diagnostics, _output
from openprogram.cli._commands import Command, JsonOption, LazyGroup, examples
from openprogram.config import SettingSpec
from openprogram.errors import ConfigError

app = typer.Typer(
    cls=LazyGroup,
    rich_markup_mode=None,
    add_completion=False,
    epilog=examples(
        ("openprogram config get", "every setting, its value and meaning"),
        ("openprogram config get default_model", "one value"),
        ("openprogram config set ui.theme light", "change one"),
    ),
)

_IGNORE_KEY = "record_replay.ignore"
_APPLY = {
    "next_start": "It counts from the next start on; restart what already runs.",
    "now": "It counts at once.",
}


@app.callback()
def config() -> None:
    """Read or change one setting."""


def complete_key(incomplete: str) -> list[str]:
    """Offer the keys of the settings.

    Args:
        incomplete: The beginning of the word.

    Returns:
        The keys that begin so.
    """
    return [spec.key for spec in settings_file.SETTINGS if spec.key.startswith(incomplete)]


@app.command(
    cls=Command,
    epilog=examples(
        ("openprogram config get", "every setting, and its meaning"),
        ("openprogram config get record_replay.mode", "one value, nothing else"),
    ),
)
def get(
    key: Annotated[
        str | None,
        typer.Argument(
            metavar="KEY",
            help="The setting, such as record_replay.mode. All of them when none is named.",
            autocompletion=complete_key,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """Print one setting, or all with what they mean."""
    specs = settings_file.SETTINGS if key is None else (_spec_of(key),)
    settings = settings_file.read_settings()
    values = {spec.key: settings.get(spec.key) for spec in specs}
    if as_json:
        _output.write_json({"settings": values})
    elif key is None:
        for spec in specs:
            _output.write_line(f"{spec.key} = {_shown(values[spec.key])}".rstrip())
            _output.write_line(f"  {spec.description}")
    else:
        _output.write_line(_shown(values[key]))
    return _diagnostics.DONE


class _Set(Command):
    stray_remedy = "write the value as one word, in quotes"


@app.command(
    name="set",
    cls=_Set,
    epilog=examples(
        ("openprogram config set ui.theme light", "a word"),
        ("openprogram config set record_replay.ignore '[\"model.cost\"]'", "a list"),
    ),
)
def set_(
    key: Annotated[
        str,
        typer.Argument(metavar="KEY", help="The setting.", autocompletion=complete_key),
    ],
    value: Annotated[
        str,
        typer.Argument(metavar="VALUE", help="A word; for a list or a map, JSON."),
    ],
    as_json: JsonOption = False,
) -> int:
    """Change one setting.

    The value is checked first; nothing else in the file changes.
    """
    spec = _spec_of(key)
    try:
        parsed = spec.parse(value)
        if key == _IGNORE_KEY:
            # Late: it loads the types of a request, which no other setting needs.
            from openprogram.providers.ignored_paths import parse_ignored_path

            for line in cast("list[str]", parsed):
                parse_ignored_path(line)
    except (ConfigError, ValueError) as error:
        raise _diagnostics.UsageError(str(error)) from error
    settings_file.update_settings({key: parsed})
    if as_json:
        _output.write_json({"settings": {key: parsed}, "apply": spec.apply})
    else:
        _output.write_line(f"{key} is now {_shown(parsed) or 'empty'}. {_APPLY[spec.apply]}")
    return _diagnostics.DONE


def _spec_of(key: str) -> SettingSpec:
    try:
        return settings_file.find_setting(key)
    except ConfigError as error:
        raise _diagnostics.UsageError(str(error)) from error


def _shown(value: settings_file.SettingValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
