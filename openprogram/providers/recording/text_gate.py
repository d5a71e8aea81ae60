"""Finds, fast, where a text could hold a secret, and cuts it into parts that are judged alone.

Nothing here decides that something is a secret: a gate that is too wide costs time, one that is too
narrow leaks. A part is a line, or several where one value goes over them; where a part ends depends
only on what stands before, so that a stream can be cut in the same places as the whole text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from openprogram.providers.recording.secret_shapes import PRIVATE_KEY_BEGIN, PRIVATE_KEY_END

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME_ENDINGS = (
    "token|tokens|key|keys|secret|secrets|password|passwords|passwd|passphrase|passcode|pwd|pass"
    "|jwt|cookie|cookies|credential|credentials|authorization|signature|sig"
)
"""How the names of fields that matter end, as alternatives of a pattern, in lower case."""

_ENDINGS = NAME_ENDINGS.encode()
_SGNIDNE = b"|".join(word[::-1] for word in _ENDINGS.split(b"|"))
_PREFIXED = (
    "sk xai GOCSPX xapp pypi glpat gldt glrt glptt glcbt glsoat glft glimt glagent SECRET-KEY"
)
_UNDERSCORED = (
    "ghp gho ghu ghs ghr github_pat k_live k_test whsec hf gsk npm v1 shpat shpss shpca shppa"
)


def _after_one_of(words: str) -> bytes:
    return b"|".join(b"(?<=%s.)" % word for word in words.encode().split())


# One literal in front of each pattern lets the engine look for that one byte: about 1 ns a byte
# each, against 15 ns for an alternation. Names are found backwards from their separator, because
# separators are rare and words such as "token" are not.
_GATES = (
    re.compile(
        rb"-(?:" + _after_one_of(_PREFIXED) + rb"|(?<=xox.-)|(?<=---)BEGIN|u[\s\w'\"=]"
        rb"|(?<=--)(?:user|proxy-user|[\w-]{0,40}?(?:" + _ENDINGS + rb"))[ =]|U )"
    ),
    re.compile(rb"_(?:" + _after_one_of(_UNDERSCORED) + rb")"),
    re.compile(rb"\.(?:(?<=ya29\.)|(?<=SG\.)|(?<=hvs\.))"),
    re.compile(rb"A(?:KIA|SIA|Iza)"),
    re.compile(rb"J(?<=eyJ)[\w-]{8}"),
    re.compile(rb"\\(?:\r?\n|u00[2-7])"),
)
_LOWERED_GATES = (
    re.compile(rb"b(?:earer|asic|ot)(?:[ \t]|%20)"),
    re.compile(rb"k(?:(?<=tok)en|ey)[ \t]"),
)
_URL_GATE = re.compile(rb":(?://|\\/\\/)[^\s/?#@]*[:@]")
_ENCODED_URL_GATE = re.compile(rb"%3a%2f%2f")
_GAP = rb"(?:[ \t\"'\\\]]|;touq&)*[0-9]{0,3}(?:"
_REVERSED_GATES = (
    re.compile(rb"=" + _GAP + _SGNIDNE + rb")"),
    re.compile(rb">=" + _GAP + _SGNIDNE + rb")"),
    re.compile(rb":" + _GAP + _SGNIDNE + rb")"),
    re.compile(rb':[ \t]*"s?(?:eulav|lav)"'),
    re.compile(rb'"\\*[0-9]{0,3}(?:' + _SGNIDNE + rb")"),
    re.compile(rb"'\\*[0-9]{0,3}(?:" + _SGNIDNE + rb")[\w.-]*[\"'][ \t]*[(\[:]"),
)
_REVERSED_ENCODED_GATE = re.compile(
    rb"[ad]3(?:52)*%(?:(?:d5|22|72)(?:52)*%)*[0-9]{0,3}(?:" + _SGNIDNE + rb")"
)
_ENCODED_NAME_GATE = re.compile(rb"%[4-7][0-9a-f]")


def find_candidates(text: str) -> list[int]:
    """Find the places that may belong to a secret; none means that there is no secret.

    Every candidate stands on the line of the secret, or on the line where its name stands.

    Args:
        text: Any text outside of JSON.

    Returns:
        Offsets in rising order.
    """
    raw = text.encode("latin-1", "replace")
    found = [match.start() for gate in _GATES for match in gate.finditer(raw)]
    lowered = raw.lower()
    for gate in _LOWERED_GATES:
        found.extend(match.start() for match in gate.finditer(lowered))
    backwards = lowered[::-1]
    last = len(raw) - 1
    for gate in _REVERSED_GATES:
        found.extend(last - match.start() for match in gate.finditer(backwards))
    if b"@" in raw:
        found.extend(match.start() for match in _URL_GATE.finditer(raw))
    if b"%" in raw:
        found.extend(match.start() for match in _ENCODED_NAME_GATE.finditer(lowered))
        if b"%3" in raw:
            found.extend(match.start() for match in _ENCODED_URL_GATE.finditer(lowered))
            found.extend(
                last - match.start() for match in _REVERSED_ENCODED_GATE.finditer(backwards)
            )
    found.sort()
    return found


_QUOTES = r"(?:\\*[\"']|&quot;)"
_OPENS_NEXT_LINE = re.compile(
    rf"(?a)(?:\\|(?i:{NAME_ENDINGS})[0-9]{{0,3}}(?:(?:{_QUOTES}|[ \t\]])*+[:=]>?|{_QUOTES}[ \t]*,)"
    rf"|A[KS]IA[A-Z0-9]{{16}}[\"',;:|=]{{0,3}})[ \t]*\r?\n\Z"
)
_OPENS_BLOCK_SCALAR = re.compile(
    rf"(?a)(?i:{NAME_ENDINGS})[0-9]{{0,3}}[\"']?[ \t]*:[ \t]*[|>][+-]?[0-9]?[ \t]*\r?\n\Z"
)
_OPENS_BRACKETS = re.compile(
    rf"(?a)(?i:{NAME_ENDINGS})[0-9]{{0,3}}(?:{_QUOTES}|[ \t\]])*+[:=]>?[ \t]*(?=[{{\[])"
)
_VALUE_FIRST = re.compile(r'(?ai)"(?:value|values|val)"[ \t]*:')
_BRACKET = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|[{}\[\]]')


class OpenPart:
    """Follows one part line by line and says whether it goes on."""

    __slots__ = ("_depth", "_in_block_scalar", "_in_private_key")

    def __init__(self) -> None:
        self._depth = 0
        self._in_private_key = False
        self._in_block_scalar = False

    def goes_on_after(self, line: str) -> bool:
        """Take the next line, its LF included, and say whether the part needs one more."""
        if self._in_private_key:
            end = PRIVATE_KEY_END.search(line)
            if end is None:
                return True
            self._in_private_key = False
            line = line[end.end() :]
        if self._in_block_scalar:
            self._in_block_scalar = line[:1] in " \t\r\n"
            if self._in_block_scalar:
                return True
        begin = None
        for begin in PRIVATE_KEY_BEGIN.finditer(line):
            pass
        if begin is not None and not PRIVATE_KEY_END.search(line, begin.end()):
            self._in_private_key = True
            return True
        if _OPENS_BLOCK_SCALAR.search(line):
            self._in_block_scalar = True
            return True
        self._count_brackets(line)
        if line.rstrip().endswith(",") and _VALUE_FIRST.search(line):
            return True
        return self._depth > 0 or _OPENS_NEXT_LINE.search(line) is not None

    def _count_brackets(self, line: str) -> None:
        at = 0
        if self._depth == 0:
            opener = _OPENS_BRACKETS.search(line)
            if opener is None:
                return
            at = opener.end()
        for match in _BRACKET.finditer(line, at):
            character = match[0]
            if character in "{[":
                self._depth += 1
            elif character in "}]" and self._depth:
                self._depth -= 1


def iterate_parts(text: str) -> Iterator[tuple[int, int]]:
    """Cut a text into the parts that may hold a secret; all else holds none.

    Args:
        text: Any text outside of JSON.

    Yields:
        Start and end offsets, in rising order; both stand at the border of a line.
    """
    done = 0
    for candidate in find_candidates(text):
        if candidate < done:
            continue
        start = done = max(text.rfind("\n", done, candidate) + 1, done)
        part = OpenPart()
        goes_on = True
        while goes_on and done < len(text):
            line_start = done
            done = text.find("\n", line_start) + 1 or len(text)
            goes_on = part.goes_on_after(text[line_start:done])
        yield start, done
