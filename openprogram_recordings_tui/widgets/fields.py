"""What may be typed or pasted into a field: the toolkit draws a field's text as it is."""

from __future__ import annotations

PRINTABLE_ASCII = r"[ -~]*"
"""For IDs."""

HARMLESS = (
    r"[^\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f"
    r"\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]*"
)
"""For words to look for: no character that acts on a terminal or hides another."""
