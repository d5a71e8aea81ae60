"""Which settings there are, and what each may be."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from openprogram.errors import ConfigError, quoted

SettingValue: TypeAlias = (
    "bool | int | float | str | list[SettingValue] | dict[str, SettingValue] | None"
)
"""What a setting may hold: any value that JSON can say."""
SettingsDocument: TypeAlias = "dict[str, SettingValue]"
"""A settings file, as a JSON object."""
SettingType: TypeAlias = Literal["string", "string_list", "string_map"]
"""What a setting's value is."""

_TYPE_WORDS: dict[SettingType, str] = {
    "string": "a string",
    "string_list": "a list of strings",
    "string_map": "an object of strings",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingSpec:
    """One setting: what it may be, and when a change takes effect."""

    key: str
    """Dotted, as people write it."""
    type: SettingType
    """What its value is."""
    default: SettingValue
    """What holds when it is not set."""
    description: str
    """One sentence for people."""
    apply: Literal["next_start", "now"]
    """When a change takes effect."""
    choices: tuple[str, ...] = ()
    """The only values allowed; empty when any will do."""
    example: SettingValue = None
    """A value that is allowed, for a list or a map, which people have to write as JSON."""

    def problem_of(self, value: object) -> str | None:
        """Say why a value is not allowed.

        Args:
            value: Any JSON value.

        Returns:
            The rule in words, or None when the value is allowed.

        Example:
            >>> find_setting("record_replay.mode").problem_of("maybe")
            "must be one of off, record, replay, not 'maybe'"
        """
        if not _is_of_type(self.type, value):
            example = "" if self.example is None else f", such as {json.dumps(self.example)}"
            return f"must be {_TYPE_WORDS[self.type]}{example}"
        if self.choices and value not in self.choices:
            return f"must be one of {', '.join(self.choices)}, not {quoted(value)}"
        return None

    def parse(self, text: str) -> SettingValue:
        """Read a value as it is typed on a command line.

        Args:
            text: The word itself for a string; JSON for a list or a map.

        Returns:
            A value of the setting's type.

        Raises:
            ConfigError: The text is no value that the setting allows.

        Example:
            >>> find_setting("record_replay.ignore").parse('["model.cost"]')
            ['model.cost']
        """
        value: object = text
        if self.type != "string":
            try:
                value = json.loads(text)
            except (ValueError, RecursionError):
                value = None
        problem = self.problem_of(value)
        if problem is None:
            return cast("SettingValue", value)
        if self.type != "string":
            problem = (
                f"must be {_TYPE_WORDS[self.type]}, written as JSON: openprogram config set "
                f"{self.key} {shlex.quote(json.dumps(self.example))}"
            )
        raise ConfigError(f"{self.key} {problem}", key=self.key)


SETTINGS: tuple[SettingSpec, ...] = (
    SettingSpec(
        key="record_replay.mode",
        type="string",
        default="off",
        description="Whether provider calls are recorded, replayed, or neither.",
        apply="next_start",
        choices=("off", "record", "replay"),
    ),
    SettingSpec(
        key="record_replay.file",
        type="string",
        default="",
        description="The recording: a managed ID, or for replay also an absolute path.",
        apply="next_start",
    ),
    SettingSpec(
        key="record_replay.snapshots",
        type="string",
        default="derived",
        description="Whether each event's message so far is derived on reading, or stored in full.",
        apply="next_start",
        choices=("derived", "full"),
    ),
    SettingSpec(
        key="record_replay.ignore",
        type="string_list",
        default=[],
        description="Field paths of a request that replay does not compare.",
        apply="next_start",
        example=["model.base_url"],
    ),
    SettingSpec(
        key="default_provider",
        type="string",
        default="",
        description="The provider when neither the command nor AGENTIC_PROVIDER names one.",
        apply="next_start",
    ),
    SettingSpec(
        key="default_model",
        type="string",
        default="",
        description="The model when neither the command nor AGENTIC_MODEL names one.",
        apply="next_start",
    ),
    SettingSpec(
        key="prices_file",
        type="string",
        default="",
        description="A file of what models cost, by its absolute path; without one it is unknown.",
        apply="next_start",
    ),
    SettingSpec(
        key="ui.theme",
        type="string",
        default="auto",
        description="The colours of the terminal UI.",
        apply="next_start",
        choices=("auto", "dark", "light"),
    ),
    SettingSpec(
        key="ui.keymap",
        type="string_map",
        default={},
        description="Other keys for the terminal UI: from a binding's id to keys, comma-separated.",
        apply="next_start",
        example={"app.quit": "q,ctrl+q"},
    ),
)
"""Every setting, in the order people see them."""


def find_setting(key: str) -> SettingSpec:
    """Look up what a setting may be.

    Args:
        key: The dotted key.

    Returns:
        Its specification.

    Raises:
        ConfigError: There is no such setting.
    """
    for spec in SETTINGS:
        if spec.key == key:
            return spec
    known = ", ".join(spec.key for spec in SETTINGS)
    raise ConfigError(f"setting {quoted(key)}: no such setting; choose one of {known}", key=key)


def _is_of_type(type_: SettingType, value: object) -> bool:
    match type_:
        case "string":
            return isinstance(value, str)
        case "string_list":
            return isinstance(value, list) and all(
                isinstance(item, str) for item in cast("list[object]", value)
            )
        case "string_map":
            return isinstance(value, dict) and all(
                isinstance(item, str) for item in cast("dict[str, object]", value).values()
            )
