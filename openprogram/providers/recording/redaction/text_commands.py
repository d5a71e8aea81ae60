"""Finds credentials among the arguments of commands: `curl -u user:...`, `--api-key ...`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from openprogram.providers.recording.redaction.field_names import (
    NAME_ENDING,
    NAME_TRIGGERS,
    is_secret_field,
)
from openprogram.providers.recording.redaction.text_rules import (
    REST_OF_LINE,
    TextRule,
    TextViews,
    gate,
)
from openprogram.providers.recording.redaction.text_values import (
    PLACEHOLDER,
    Replacement,
    closing_quote,
    is_credential_like,
    is_reference,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_ENDING = NAME_ENDING.encode()
_FLAG_GATE = gate(
    "-",
    rb"-(?<=[\s\"'`-]-)(?=[a-z])(?:[a-z]{0,6}u[\s\w'\"=:\\]"
    rb"|(?<=--)(?:user|proxy-user|cookie)[ \t=\"']|b[ \t\"']"
    rb"|(?<=[ \t]-)[pa](?:[ \t'\"]|[^\s-]{4})"
    rb"|(?<=[\s\"'`-]-)(?=[a-z])[\w-]{0,40}?" + _ENDING + rb"[ \t=\"'])" + REST_OF_LINE,
)
_ENV_GATE = gate("ENV", rb"ENV[ \t]++\w*?(?i:" + _ENDING + rb")[ \t]")
_DEFINE_GATE = gate("define", rb"define[ \t]++\w*?" + _ENDING + rb"[ \t]++\"")
_SET_GATE = gate("fig", rb"fig(?:ure)?[ \t]++set[ \t]++[^\n]{0,100}?" + _ENDING + rb"[ \t]")

_SPACE = r"(?:[ \t]++|=|[\"'],[ \t]*+(?=[\"']))"
_USER_FLAG = re.compile(
    rf"(?a)-(?<=[\s'\"-]-)(?:[a-zA-Z]{{0,6}}[uU]|(?<=--)(?:proxy-)?user){_SPACE}?+(?P<quote>\\*[\"']?)"
    r"[^\s:'\"/\\]*+:(?!//)(?P<at>)"
)
_COOKIE_FLAG = re.compile(
    rf"(?a)-(?<=[\s'\"-]-)(?:b|(?<=--)cookie){_SPACE}(?P<quote>\\*[\"']?)(?P<at>)(?=[^\s='\"]+=)"
)
_SECRET_FLAG = re.compile(
    rf"(?a)-(?<![\w-]-)-?(?P<name>[A-Za-z][\w-]{{2,60}}){_SPACE}(?P<quote>\\*[\"']?)(?P<at>)(?!-)"
)
_SET_VARIABLE = re.compile(
    r"(?am)(?:^[ \t]*(?:ENV|#[ \t]*define)|config(?:ure)?[ \t]+set)[ \t]+"
    r"(?P<name>[\w/.:-]{1,100})[ \t]+(?P<quote>[\"']?)(?P<at>)"
)
_USER_COMMANDS = (b"curl", b"wget", b"http")
_PASSWORD_FLAGS = (
    (b"sshpass", re.compile(r"(?a)-(?<=\s-)p[ \t]*+(?P<quote>[\"']?)(?P<at>)")),
    (b"docker login", re.compile(r"(?a)-(?<=\s-)p[ \t]++(?P<quote>[\"']?)(?P<at>)")),
    (b"twine", re.compile(r"(?a)-(?<=\s-)p[ \t]++(?P<quote>[\"']?)(?P<at>)")),
    (b"mysql", re.compile(r"(?a)-(?<=\s-)p(?P<quote>[\"']?)(?P<at>)(?=[^\s'\"-])")),
    (b"redis-cli", re.compile(r"(?a)-(?<=\s-)a[ \t]++(?P<quote>[\"']?)(?P<at>)")),
)
_WORD = re.compile(r"(?a)[^\s'\"`;|]+")


def find_in_argument(command: str, flag: str, value: str) -> Replacement | None:
    """Find the credential in one item of a list of arguments, as a process gets them.

    Args:
        command: The first item of the list.
        flag: The item before.
        value: The item.

    Returns:
        What to replace in `value`: all of it behind `--password`, the end of it behind `-u`.
    """
    if not flag.startswith("-") or value.startswith(("-", "$", PLACEHOLDER)):
        return None
    if value and is_secret_field(flag.lstrip("-")):
        return Replacement(0, len(value))
    user, colon, password = value.partition(":")
    is_user = flag in {"-u", "-U", "--user", "--proxy-user"} and command.lower().endswith("curl")
    if is_user and colon and password and not password.startswith(("//", PLACEHOLDER)):
        return Replacement(len(user) + 1, len(value))
    return None


def _find_candidates(views: TextViews) -> list[int]:
    found = _ENV_GATE.starts(views.raw)
    for one in (_FLAG_GATE, _SET_GATE, _DEFINE_GATE):
        found += one.starts(views.lowered)
    return found


def _find_secrets(views: TextViews) -> Iterator[Replacement]:
    part = views.text
    if _FLAG_GATE.is_open(views.lowered):
        yield from _find_user_flags(views)
        yield from _find_password_flags(views)
        yield from _find_named(part, _SECRET_FLAG)
    is_set = any(one.is_open(views.lowered) for one in (_SET_GATE, _DEFINE_GATE))
    if is_set or _ENV_GATE.is_open(views.raw):
        yield from _find_named(part, _SET_VARIABLE)


def _find_user_flags(views: TextViews) -> Iterator[Replacement]:
    places = [views.lowered.find(command) for command in _USER_COMMANDS]
    command_at = min((place for place in places if place >= 0), default=-1)
    if command_at < 0:
        return
    for pattern in (_USER_FLAG, _COOKIE_FLAG):
        for match in pattern.finditer(views.text, command_at):
            yield from _argument(views.text, match)


def _find_password_flags(views: TextViews) -> Iterator[Replacement]:
    for command, pattern in _PASSWORD_FLAGS:
        command_at = views.lowered.find(command)
        if command_at >= 0:
            for match in pattern.finditer(views.text, command_at):
                yield from _argument(views.text, match)


def _find_named(part: str, pattern: re.Pattern[str]) -> Iterator[Replacement]:
    for match in pattern.finditer(part):
        if not is_secret_field(match["name"]):
            continue
        for found in _argument(part, match):
            is_variable = pattern is _SET_VARIABLE and match["name"].isupper()
            if match["quote"] or is_variable or is_credential_like(part[found.start : found.end]):
                yield found


def _argument(part: str, match: re.Match[str]) -> Iterator[Replacement]:
    at, quote = match.start("at"), match["quote"]
    end = closing_quote(part, at, quote[-1], len(quote) - 1) if quote else -1
    if end < 0:
        run = _WORD.match(part, at)
        end = at if run is None else run.end()
    if end > at and not part.startswith(PLACEHOLDER, at) and not is_reference(part[at : at + 100]):
        yield Replacement(at, end)


COMMANDS = TextRule(
    triggers=("curl", "wget", "http", "docker", "mysql", "redis-cli", "twine", *NAME_TRIGGERS),
    find_candidates=_find_candidates,
    find_secrets=_find_secrets,
)
"""`curl -u user:password`, `--password x`, `docker login -p x`, `ENV API_KEY x`."""
