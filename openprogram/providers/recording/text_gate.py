"""Finds, fast, where a text could hold a secret, and cuts it into parts that are judged alone.

Nothing here decides that something is a secret: a gate that is too wide costs time, one that is too
narrow leaks. A part is a line, or several where one value goes over them; where a part ends depends
only on what stands before, so that a stream can be cut in the same places as the whole text.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from openprogram.providers.recording.secret_shapes import PRIVATE_KEY_BEGIN, PRIVATE_KEY_END

if TYPE_CHECKING:
    from collections.abc import Iterator

TRIGGER = re.compile(
    r"k(?:ey|_live|_test)|token|s(?:ecret|ig|k-|g\.|hp)|p(?:ass|wd|ypi-)|jwt|c(?:ookie|redential|url)"
    r"|a(?:uthoriz|[ks]ia|iza)|val|b(?:earer|asic|ot)|\\(?:\r?\n|/|u)|:/|%|h(?:ttp|f_|vs\.)"
    r"|w(?:get|hsec_)|-----b|eyj|ya29|g(?:ocspx|h[pousr]_|ithub_|l[a-z]{2,5}-|sk_)|x(?:ox|ai-|app-)"
    r"|npm_|_v1_"
)
"""Every secret begins at a match of this in the lowered text, or behind one in its part."""

LONGEST_TRIGGER = 10
"""Characters of the longest match of `TRIGGER`."""

_ENDINGS = (
    "authorization cookie credential jwt key pass passcode passphrase passwd password pwd secret "
    "sig signature token"
).split()


def _alternatives(words: list[str]) -> str:
    """Build a pattern of words, grouped by their first letter because that is tried faster."""
    groups = groupby(sorted(words, reverse=True), key=lambda word: word[0])
    return "|".join(
        f"{letter}(?:{'|'.join(word[1:] for word in group)})" for letter, group in groups
    )


def _after_one_of(words: str) -> bytes:
    return b"|".join(b"(?<=%s.)" % word for word in words.encode().split())


NAME_ENDING = rf"(?:{_alternatives(_ENDINGS)})s?[0-9]{{0,3}}"
"""How the names of fields that matter end, in lower case, as a pattern."""

# One literal in front of each pattern lets the engine look for that one byte: about 1 ns a byte
# each, against 15 ns for an alternation and 200 ns for one without regard to case. Names are found
# backwards from their separator, because separators are rare and words such as "token" are not.
_GNIDNE = f"[0-9]{{0,3}}s?(?:{_alternatives([word[::-1] for word in _ENDINGS])})".encode()
_PREFIXED_T = "glpat gldt glrt glptt glcbt glsoat glft glimt glagent"
_UNDERSCORED = "ghp gho ghu ghs ghr github_pat k_live k_test whsec hf gsk npm v1 at ss ca pa"
_FLAG = rb"(?=[a-zA-Z])(?i:[\w-]{0,40}?(?:" + _alternatives(_ENDINGS).encode() + rb"))[ \t=]"
_REST = rb"[^\n]*+"  # one candidate a line is enough
_GATES = (
    re.compile(
        rb"-(?:(?=[\w-]{8})(?:(?<=sk-)(?:(?<![\w-]sk-)|(?<=\\.sk-)|(?<=%..sk-))|(?<=xox.-)"
        rb"|(?<=t-)(?:" + _after_one_of(_PREFIXED_T) + rb")|(?<=i-)(?:(?<=xai-)|(?<=pypi-))"
        rb"|(?<=[XpY]-)(?:" + _after_one_of("GOCSPX xapp KEY") + rb"))|(?<=-----)BEGIN"
        rb"|[uU][\s\w'\"=]|(?<=--)(?:user|proxy-user)[ \t=]|(?<=[\s-]-)" + _FLAG + rb")" + _REST
    ),
    re.compile(rb"_(?=[\w+/=]{10})(?:" + _after_one_of(_UNDERSCORED) + rb")" + _REST),
    re.compile(rb"\.(?:(?<=ya29\.)|(?<=SG\.)|(?<=hvs\.))" + _REST),
    re.compile(rb"A(?:KIA|SIA|Iza)" + _REST),
    re.compile(rb"J(?<=eyJ)[\w-]{8}" + _REST),
    re.compile(rb"\\(?:\r?\n|u00[2-7][^\n]*+)"),
)
_CREDENTIAL = rb"(?:[ \t]+\\*[\"'`]?|%20)"
_LOWERED_GATES = (
    re.compile(
        rb"b(?:earer" + _CREDENTIAL + rb"\S{8}|asic" + _CREDENTIAL + rb"[\w+/-]{6})" + _REST
    ),
    re.compile(rb"b(?:ot)" + _CREDENTIAL + rb"[\w.+/=~:-]{12}" + _REST),
    re.compile(rb"k(?:(?<=tok)en|ey)" + _CREDENTIAL + rb"[\w.+/=~:-]{12}" + _REST),
)
_URL_GATE = re.compile(rb":(?://|\\/\\/)[^\s/?#@]*[:@]" + _REST)
_ENCODED_URL_GATE = re.compile(rb"%3a%2f%2f" + _REST)
_ENCODED_NAME_GATE = re.compile(rb"%[4-7][0-9a-f]" + _REST)
_GAP = rb"[ \t\"'\\\]]*(?:;touq&)?"
_BACKWARDS_GATES = (
    re.compile(rb"=" + _GAP + _GNIDNE + _REST),
    re.compile(rb">=" + _GAP + _GNIDNE + _REST),
    re.compile(rb":" + _GAP + _GNIDNE + _REST),
    re.compile(rb">" + _GNIDNE + rb"[\w:.-]*<" + _REST),
    re.compile(rb':[ \t]*"s?(?:eulav|lav)"' + _REST),
    re.compile(rb'"\\*' + _GNIDNE),
    re.compile(rb",[ \t]*'\\*" + _GNIDNE + _REST),
)
_ENCODED_FIELD_GATE = re.compile(rb"[ad]3(?:52)*%(?:(?:d5|22|72)(?:52)*%)*" + _GNIDNE + _REST)


def _latin(text: str) -> bytes:
    """Give one byte for each character, so that offsets stay and searching is fast."""
    return text.encode("latin-1", "replace")


def lowered_ascii(text: str) -> str:
    """Lower ASCII letters and put `?` for what is beyond Latin-1, so that offsets stay."""
    return _latin(text).lower().decode("latin-1")


def find_candidates(text: str) -> list[int]:
    """Find the places that may belong to a secret; none means that there is no secret.

    Every candidate stands on the line of the secret, or on the line where its name stands.

    Args:
        text: Any text outside of JSON.

    Returns:
        Offsets in rising order.
    """
    raw = _latin(text)
    lowered = raw.lower()
    backwards = lowered[::-1]
    found = [one.start() for gate in _GATES for one in gate.finditer(raw)]
    found += [one.start() for gate in _LOWERED_GATES for one in gate.finditer(lowered)]
    size = len(raw)
    found += [size - one.end() for gate in _BACKWARDS_GATES for one in gate.finditer(backwards)]
    if b"@" in raw:
        found += [one.start() for one in _URL_GATE.finditer(raw)]
    if b"%" in raw:
        found += [one.start() for one in _ENCODED_NAME_GATE.finditer(lowered)]
        found += [one.start() for one in _ENCODED_URL_GATE.finditer(lowered)]
        found += [size - one.end() for one in _ENCODED_FIELD_GATE.finditer(backwards)]
    found.sort()
    return found


_LONGEST_LINE_END = 300
_LINE_END = r"[ \t]*\r?\n\Z"
_OPENS_NEXT_LINE = re.compile(
    rf"(?a)(?:\\|(?i:{NAME_ENDING})(?:\\*[\"']|&quot;|[ \t\]])*+[:=,]>?"
    rf"|A[KS]IA[A-Z0-9]{{16}}[\"',;:|=]{{0,3}}){_LINE_END}"
)
_OPENS_BLOCK_SCALAR = re.compile(
    rf"(?ai:{NAME_ENDING})[\"']?[ \t]*:[ \t]*[|>][+-]?[0-9]?{_LINE_END}"
)
_OPENS_BRACKETS = re.compile(rb"[{\[][ \t]*>?[:=]" + _GAP + _GNIDNE)
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
            if line[:1] in " \t\r\n":
                return True
            self._in_block_scalar = False
        tail = line[-_LONGEST_LINE_END:]
        self._in_private_key = _leaves_private_key_open(line)
        self._in_block_scalar = _OPENS_BLOCK_SCALAR.search(tail) is not None
        self._count_brackets(line)
        return (
            self._in_private_key
            or self._in_block_scalar
            or self._depth > 0
            or _OPENS_NEXT_LINE.search(tail) is not None
            or (tail.rstrip().endswith(",") and _VALUE_FIRST.search(line) is not None)
        )

    def _count_brackets(self, line: str) -> None:
        at = 0
        if self._depth == 0:
            if "{" not in line and "[" not in line:
                return
            backwards = _latin(line).lower()[::-1]
            openers = [len(line) - one.start() - 1 for one in _OPENS_BRACKETS.finditer(backwards)]
            if not openers:
                return
            at = openers[-1]
        for match in _BRACKET.finditer(line, at):
            character = match[0]
            if character in "{[":
                self._depth += 1
            elif character in "}]" and self._depth:
                self._depth -= 1


def _leaves_private_key_open(line: str) -> bool:
    at = 0
    while begin := PRIVATE_KEY_BEGIN.search(line, at):
        end = PRIVATE_KEY_END.search(line, begin.end())
        if end is None:
            return True
        at = end.end()
    return False


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
