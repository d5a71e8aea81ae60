"""Reads a text through one layer of escapes, as URLs, HTML and JSON have them.

What rules find in the decoded text is mapped back to the places of the text as it was written.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from urllib.parse import unquote_to_bytes

from openprogram.providers.recording.redaction.text_rules import REST_OF_LINE, gate

MOST_LAYERS = 4
"""How often a text is decoded: `%2525253D` is an equals sign at the fourth time."""

ESCAPE_TRIGGERS = ("%", "&#", "&amp;", r"\\/", r"\\u")
"""Patterns of how escapes begin that may hide how a secret begins."""

_NAMED = {"amp": "&", "quot": '"', "apos": "'", "lt": "<", "gt": ">"}
_ESCAPE = re.compile(
    r"%(?:[2-7][0-9A-Fa-f]|09)"
    r"|&(?:amp|quot|apos|lt|gt|#(?:3[2-9]|[4-9][0-9]|1[01][0-9]|12[0-6])|#[xX][2-7][0-9A-Fa-f]);"
    r"|\\u00[2-7][0-9A-Fa-f]|\\/"
)
"""Escapes of printable ASCII characters; others cannot be part of a name or a sign."""

_ESCAPED_LINES = (
    gate("%", rb"%(?:[2-7][0-9A-Fa-f]|09)" + REST_OF_LINE),
    gate("&", rb"&(?:amp|quot|apos|lt|gt|#[0-9A-Fa-fxX]{2,4});" + REST_OF_LINE),
    gate("\\", rb"\\(?:u00[2-7]|/)" + REST_OF_LINE),
)
_JSON_LINE = re.compile(rb"\\[nrtu\"\\/][^\n]*+")
_JSON_OPENING = re.compile(rb"\{[ \t]*+\\*\"|\[[ \t]*+\\*[\[{\"]")
_JSON_CHARACTER = re.compile(r"\\u(00[0-7][0-9a-fA-F]|[0-9a-fA-F]{4})")
_JSON_ESCAPES = (
    ("\\n", "\n"),
    ("\\r", "\n"),
    ("\\t", "\t"),
    ("\\/", "/"),
    ("\\f", " "),
    ("\\b", " "),
)
_NUMBERED = re.compile(rb"&#([xX]?[0-9A-Fa-f]{2,3});|\\u00([2-7][0-9A-Fa-f])")


class DecodedText:
    """A text with one layer of its escapes undone."""

    __slots__ = ("_decoded_at", "_raw_ends", "text")

    def __init__(self, raw: str) -> None:
        self._decoded_at: list[int] = []
        self._raw_ends: list[int] = []
        pieces: list[str] = []
        done = decoded_at = 0
        for match in _ESCAPE.finditer(raw):
            pieces += (raw[done : match.start()], _character(match[0]))
            decoded_at += match.start() - done
            self._decoded_at.append(decoded_at)
            decoded_at += 1
            done = match.end()
            self._raw_ends.append(done)
        pieces.append(raw[done:])
        self.text = "".join(pieces)

    def raw_offset(self, offset: int) -> int:
        """Map an offset in the decoded text to the one in the text as it was written."""
        number = bisect_left(self._decoded_at, offset) - 1
        if number < 0:
            return offset
        return self._raw_ends[number] + offset - self._decoded_at[number] - 1


def _character(escape: str) -> str:
    if escape == r"\/":
        return "/"
    if escape[0] in "%\\":
        return chr(int(escape[-2:], 16))
    name = escape[1:-1]
    if name[0] != "#":
        return _NAMED[name]
    return chr(int(name[-2:], 16) if name[1] in "xX" else int(name[1:]))


def decode(text: str) -> DecodedText | None:
    """Undo one layer of escapes.

    Args:
        text: Any text.

    Returns:
        None when the text has no escapes.
    """
    return DecodedText(text) if _ESCAPE.search(text) else None


def find_escaped_lines(raw: bytes) -> list[int]:
    """Find the offsets of the lines that have escapes, in rising order."""
    starts = (start for one in _ESCAPED_LINES for start in one.starts(raw))
    return sorted({raw.rfind(b"\n", 0, start) + 1 for start in starts})


def unescape_roughly(raw: bytes) -> bytes:
    """Undo one layer of escapes, fast, without regard to offsets; line ends stay as they are."""
    raw = unquote_to_bytes(raw.replace(b"%0", b"%250").replace(b"%2509", b"%09"))
    if b"&#" in raw or b"\\u00" in raw:
        raw = _NUMBERED.sub(_numbered_byte, raw)
    raw = raw.replace(b"\\/", b"/").replace(b"&lt;", b"<").replace(b"&gt;", b">")
    return raw.replace(b"&quot;", b'"').replace(b"&apos;", b"'").replace(b"&amp;", b"&")


def _numbered_byte(match: re.Match[bytes]) -> bytes:
    digits = match[1] or b"x" + match[2]
    try:
        number = int(digits[1:], 16) if digits[:1] in b"xX" else int(digits)
    except ValueError:
        return match[0]
    return bytes((number,)) if 32 <= number < 127 else match[0]  # noqa: PLR2004 - printable ASCII


def find_lines_of_json(raw: bytes) -> list[int]:
    """Find the offsets of the lines that hold JSON with escapes, in rising order."""
    found: list[int] = []
    for match in _JSON_LINE.finditer(raw):
        start = raw.rfind(b"\n", 0, match.start()) + 1
        if _JSON_OPENING.search(raw, start, match.end()):
            found.append(start)
    return found


def unescape_json_roughly(text: str) -> str:
    """Undo one layer of the escapes of JSON strings, fast, without regard to offsets."""
    if "\\" not in text:
        return text
    pieces = text.split("\\\\")
    return "\\".join(_unescape_piece(piece) for piece in pieces)


def _unescape_piece(piece: str) -> str:
    for escape, character in _JSON_ESCAPES:
        piece = piece.replace(escape, character)
    if "\\u" in piece:
        piece = _JSON_CHARACTER.sub(lambda match: chr(int(match[1], 16)), piece)
    return piece.replace('\\"', '"')
