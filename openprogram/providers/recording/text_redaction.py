"""Finds and replaces the credentials in a text; pure, total, and linear in its length."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from openprogram.providers.recording.field_names import is_secret_field
from openprogram.providers.recording.json_text import JsonScanner, may_be_json
from openprogram.providers.recording.secret_shapes import (
    PRIVATE_KEY_BEGIN,
    PRIVATE_KEY_END,
    SHAPES,
)
from openprogram.providers.recording.text_fields import find_field_secrets, is_query_secret
from openprogram.providers.recording.text_gate import (
    TRIGGER,
    find_candidates,
    iterate_parts,
    lowered_ascii,
)
from openprogram.providers.recording.text_values import (
    PLACEHOLDER,
    Replacement,
    closing_quote,
    is_credential_like,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHORT = 200
_JSON_WORDS = tuple("token key secret pass pwd jwt cookie credential authoriz \\u00 \\/".split())
_VALUE_BEFORE_NAME = re.compile(
    r"(?ai)\"(?:value|values|val)\"\s*+:\s*+\"(?P<value>(?:[^\"\\\n]|\\.)*+)\"\s*+,\s*+"
    r"\"(?:name|key|header|field)\"\s*+:\s*+\"(?P<name>[^\"\\\n]{0,100})\""
)
_JSON_OPENING = re.compile(r"(?a)\{\s*+\"|\[\s*+[\[{\"]")
_DATA_URL = re.compile(r"(?a)data:[\w/+.;=-]{0,100};base64,[A-Za-z0-9+/=\s]*+")
_BEARER = re.compile(r"bearer(?<![\w-]bearer)(?:[ \t]++(?P<open>\\*[\"'`])?|%20)(?=\S{8})")
_BEARER_VALUE = re.compile(
    r"(?a)(?!\$?\{|\$[A-Z_]+\b|\$\(|\[secret removed\])"
    r"(?=[^\s\"'`<>,;%]{0,200}?(?:[\d$!#^&*+=~_@]|[a-z][A-Z]|[A-Za-z]{20}))[^\s\"'`<>,;%]{8,}"
)
_BASIC = re.compile(
    r"(?a)basic(?<![\w-]basic)(?:[ \t]++\\*[\"'`]?|%20)(?P<secret>[\w+/-]{6,}+={0,2})"
)
_BOT = re.compile(r"(?a)bot(?<![a-z]bot)(?:[ \t]++[\"'`]?|%20)(?P<secret>[\w.+/=~:-]{12,}+)")
_TOKEN_OR_KEY = re.compile(
    r"(?a)k(?:(?<=tok)en(?<![a-z]token)|ey(?<![a-z]key))(?:[ \t]++[\"'`]?|%20)"
    r"(?P<secret>[\w.+/=~:-]{12,}+)"
)
_DENSE_RUN = re.compile(r"(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{12,}")
_IRREGULAR = re.compile(r"[0-9][A-Za-z]|[a-z][A-Z]|[A-Z][a-z].*[A-Z]")
_UUID = re.compile(r"(?a)[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_USERINFO = re.compile(
    r"(?a):(?P<slash>\\*/)(?P=slash)(?P<info>[^\s/?#\"'<>`\\]*)@"
    r"|:(?P<slash2>\\*/)(?P=slash2)(?P<odd>[^\s/:@\"'<>`\\]*:(?!\d{1,5}(?:[/?#\s]|\Z))"
    r"[^\s\"'<>`\\]{0,256}?)@(?=[\w.-]+(?:[:/?#\s]|\Z))"
)
_ENCODED_USERINFO = re.compile(
    r"(?ai)%3A%2F%2F(?P<info>(?:[\w.~-]|%(?!2F|3F|23|40)[0-9A-F]{2})*+)%40"
)
_TOKEN_USER = re.compile(r"(?a)(?=\S*\d)[^\s.]{8,}|\S*\d\S*[-_]\S*|\S*[-_]\S*\d\S*|\S{24,}")
_USER_COMMANDS = ("curl", "wget", "http")
_CURL_USER = re.compile(
    r"(?a)-(?<=[\s'\"]-)(?:[uU]|-user|-proxy-user)(?:[ \t]++|=)?(?P<quote>[\"']?)[^\s:'\"]*+:(?P<at>)"
)
_FLAG = re.compile(
    r"(?a)-(?<![\w-]-)-?(?P<name>[A-Za-z][\w-]{2,60})[ \t]++(?P<quote>[\"']?)(?P<at>)(?!-)"
)
_ENCODED_NAME = re.compile(
    r"(?a)(?:[?&;#]|%(?:3F|26|23))(?=[\w.~-]{0,40}%[4-7][0-9a-fA-F])"
    r"(?P<name>[\w.~-]{0,40}(?:%[2-7][0-9a-fA-F][\w.~-]{0,40}){1,12}?)(?:=|%3[Dd])(?P<value>[^\s&#\"'<>]+)"
)


def remove_secrets_from_text(text: str) -> str:
    """Replace every credential in a text by the placeholder; all else stays byte for byte.

    Args:
        text: Any text, prose, code or JSON, lone surrogates included.

    Returns:
        The same object when nothing is secret.

    Example:
        >>> remove_secrets_from_text("Authorization: Basic dXNlcjpodW50ZXI=")
        'Authorization: [secret removed]'
    """
    replacements = find_replacements(text)
    return apply_replacements(text, replacements) if replacements else text


def secret_spans(text: str) -> list[tuple[int, int]]:
    """Find the places of a text that `remove_secrets_from_text` replaces.

    Args:
        text: Any text.

    Returns:
        Start and end offsets in rising order, without overlap.
    """
    return [(start, end) for start, end, _ in find_replacements(text)]


def apply_replacements(text: str, replacements: list[Replacement]) -> str:
    """Put each replacement in its place.

    Args:
        text: The text they were found in.
        replacements: In rising order, without overlap.

    Returns:
        The new text.
    """
    pieces: list[str] = []
    done = 0
    for start, end, new in replacements:
        pieces += (text[done:start], new)
        done = end
    pieces.append(text[done:])
    return "".join(pieces)


def find_replacements(text: str) -> list[Replacement]:
    """Find what is to be replaced in a text.

    Args:
        text: Any text.

    Returns:
        In rising order, without overlap.
    """
    if len(text) < _SHORT and not TRIGGER.search(text.lower()):
        return []
    if may_be_json(text):
        return _find_in_json(text)
    if text.startswith("data:") and _DATA_URL.fullmatch(text):
        return []
    found: list[Replacement] = []
    for start, end in iterate_parts(text):
        found.extend(_shifted(find_in_part(text[start:end]), start))
    return found


def _find_in_json(text: str) -> list[Replacement]:
    lowered = text.lower()
    if not any(word in lowered for word in _JSON_WORDS) and not find_candidates(text):
        return []
    found: list[Replacement] = []
    at = 0
    while may_be_json(text, at):
        scanner = JsonScanner(text, find_replacements, start=at)
        scanner.scan()
        found += scanner.found
        at = scanner.end if scanner.is_complete else scanner.open_at
        if not scanner.is_complete:
            break
    return merged(found + _shifted(find_in_part(text[at:]), at))


def _shifted(replacements: list[Replacement], by: int) -> list[Replacement]:
    if not by:
        return replacements
    return [Replacement(start + by, end + by, new) for start, end, new in replacements]


def find_in_part(part: str) -> list[Replacement]:
    """Find what is to be replaced in one part of a text, as `iterate_parts` cuts it.

    Args:
        part: A line, or several that belong together.

    Returns:
        In rising order, without overlap.
    """
    found = [*find_field_secrets(part), *_find_in_embedded_json(part)]
    lowered = part.lower()
    for finder, words in _FINDERS:
        if any(word in lowered for word in words):
            found.extend(finder(part))
    for shape in SHAPES:
        if shape.literal in part:
            found.extend(Replacement(*match.span()) for match in shape.pattern.finditer(part))
    return merged(found) if len(found) > 1 else found


def _find_values_before_names(part: str) -> Iterator[Replacement]:
    for match in _VALUE_BEFORE_NAME.finditer(part):
        if is_secret_field(match["name"]) and match["value"] != PLACEHOLDER:
            yield Replacement(*match.span("value"))


def _find_in_embedded_json(part: str) -> Iterator[Replacement]:
    at = 0
    while opening := _JSON_OPENING.search(part, at):
        scanner = JsonScanner(part, find_replacements, start=opening.start())
        scanner.scan()
        yield from scanner.found
        at = max(scanner.end, opening.start() + 1)


def merged(replacements: list[Replacement]) -> list[Replacement]:
    """Join overlapping replacements: a place is replaced once, by the one that begins first.

    Args:
        replacements: In any order.

    Returns:
        In rising order, without overlap.
    """
    result: list[Replacement] = []
    for one in sorted(replacements, key=lambda one: (one.start, -one.end)):
        if result and one.start < result[-1].end:
            last = result[-1]
            if one.end > last.end:
                result[-1] = Replacement(last.start, one.end, last.text)
        else:
            result.append(one)
    return result


def _find_private_keys(part: str) -> Iterator[Replacement]:
    at = 0
    while begin := PRIVATE_KEY_BEGIN.search(part, at):
        end = PRIVATE_KEY_END.search(part, begin.end())
        at = len(part) if end is None else end.end()
        yield Replacement(begin.start(), at)


def _find_schemes(part: str) -> Iterator[Replacement]:
    lowered = lowered_ascii(part)
    for match in _BEARER.finditer(lowered):
        yield from _bearer_value(part, match)
    for match in _BASIC.finditer(lowered):
        start, end = match.span("secret")
        if _is_basic_credential(part[start:end]):
            yield Replacement(start, end)
    for pattern in (_BOT, _TOKEN_OR_KEY):
        for match in pattern.finditer(lowered):
            start, end = match.span("secret")
            secret = part[start:end].rstrip(".:")
            run = _DENSE_RUN.search(secret)
            if run and _IRREGULAR.search(run[0]) and not _UUID.match(secret):
                yield Replacement(start, start + len(secret))


def _bearer_value(part: str, match: re.Match[str]) -> Iterator[Replacement]:
    at = match.end()
    if match["open"]:
        end = closing_quote(part, at, match["open"][-1], len(match["open"]) - 1)
        value = part[at:end]
        if end > at and value != PLACEHOLDER and any(c.isdigit() for c in value):
            yield Replacement(at, end)
            return
    found = _BEARER_VALUE.match(part, at)
    if found is not None:
        yield Replacement(at, at + len(found[0].rstrip(".,;:!?)]}")))


def _is_basic_credential(text: str) -> bool:
    try:
        decoded = base64.b64decode(
            text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), b"-_" if "-" in text else None
        )
    except (binascii.Error, ValueError):
        return False
    return b":" in decoded and decoded.isascii() and decoded.decode().isprintable()


def _find_userinfo(part: str) -> Iterator[Replacement]:
    for match in _USERINFO.finditer(part):
        group = "info" if match["info"] is not None else "odd"
        info = match[group]
        start = match.start(group)
        user, colon, password = info.partition(":")
        if colon and (user or password):
            if (
                user
                and password
                and password.lower() != "x-oauth-basic"
                and not _TOKEN_USER.fullmatch(user)
            ):
                start += len(user) + 1
            yield Replacement(start, match.end(group))
        elif user and _TOKEN_USER.fullmatch(user):
            yield Replacement(start, match.end(group))
    for match in _ENCODED_USERINFO.finditer(part):
        info = match["info"]
        if "%3a" in info.lower() or _TOKEN_USER.fullmatch(info):
            yield Replacement(*match.span("info"))


def _find_command_line(part: str) -> Iterator[Replacement]:
    lowered = lowered_ascii(part)
    if any(command in lowered for command in _USER_COMMANDS):
        for match in _CURL_USER.finditer(part):
            yield from _argument(part, match.start("at"), match["quote"])
    for match in _FLAG.finditer(part):
        if not is_secret_field(match["name"]):
            continue
        for found in _argument(part, match.start("at"), match["quote"]):
            value = part[found.start : found.end]
            if match["quote"] or is_credential_like(value):
                yield found


def _argument(part: str, at: int, quote: str) -> Iterator[Replacement]:
    end = closing_quote(part, at, quote, 0) if quote else -1
    if end < 0:
        run = _WORD.match(part, at)
        end = at if run is None else run.end()
    if end > at and not part.startswith((PLACEHOLDER, "$"), at):
        yield Replacement(at, end)


def _find_encoded_names(part: str) -> Iterator[Replacement]:
    for match in _ENCODED_NAME.finditer(part):
        name = unquote(match["name"])
        if (is_secret_field(name) or is_query_secret(name)) and not match["value"].startswith(
            "[secret"
        ):
            yield Replacement(*match.span("value"))


_WORD = re.compile(r"(?a)[^\s'\"`;|]+")
_FINDERS = (
    (_find_values_before_names, ("val",)),
    (_find_private_keys, ("-----begin",)),
    (_find_schemes, ("bearer", "basic", "bot", "token", "key")),
    (_find_userinfo, ("@", "%40")),
    (_find_command_line, ("-u", "--", "-t", "-p", "-k")),
    (_find_encoded_names, ("%",)),
)
