from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram.cli._mismatches import explain_mismatch
from openprogram.cli._tables import cell_width
from openprogram.errors import ReplayMismatch

FIELD = "context.messages[2].content[0].text"


def _explain(recorded: object, incoming: object, *, hint: str = "") -> list[str]:
    return explain_mismatch(ReplayMismatch(1, FIELD, recorded, incoming, hint=hint))


def test_short_values_stand_in_the_one_line() -> None:
    assert _explain("echo:hi", "echo:bye", hint="look\nthere") == [
        f"replay mismatch at call 1, field {FIELD}: recorded 'echo:hi', incoming 'echo:bye'",
        "look",
        "there",
    ]


def test_long_texts_are_cut_to_where_they_begin_to_differ() -> None:
    common = "Release notes, version 2.4\n\nThe release is planned for "
    rest = ", at 10:00 UTC.\nTwo people sign.\n"
    assert _explain(f"{common}Friday{rest}", f"{common}Monday{rest}", hint="next") == [
        f"replay mismatch at call 1, field {FIELD}:",
        "  recorded  …release is planned for Friday, at 10:00 UTC.",
        "  incoming  …release is planned for Monday, at 10:00 UTC.",
        "                                    ^ line 3, column 28",
        "next",
    ]


@pytest.mark.parametrize(
    ("recorded", "incoming", "shown"),
    [
        ("w" * 200, "w" * 200 + "y", ["(ends here)", "y"]),
        ("w" * 200 + "\nz", "w" * 200 + "z", ["\\n", "z"]),
        ("w" * 200 + "\x1b[2J", "w" * 200 + "\u202e", ["\\x1b[2J", "\\u202e"]),
        ("w" * 200 + "a" * 99, "w" * 200 + "b", ["a" * 40 + "…", "b"]),
    ],
)
def test_the_ends_of_lines_and_texts_are_shown(
    recorded: str, incoming: str, shown: list[str]
) -> None:
    _, first, second, mark = _explain(recorded, incoming)
    assert [first.rpartition("w")[2], second.rpartition("w")[2]] == shown
    assert mark.endswith("^ line 1, column 201")
    assert first[mark.index("^") - 1] == "w"


def test_long_values_of_other_kinds_are_cut_to_a_line() -> None:
    _, recorded, incoming = _explain({"a": "x" * 500}, ["y" * 500])
    assert recorded.startswith("  recorded  {'a': 'xxx")
    assert incoming.startswith("  incoming  ['yyy")
    assert max(cell_width(recorded), cell_width(incoming)) <= 78


@given(st.text(min_size=1, max_size=300), st.text(max_size=300))
def test_no_text_can_act_and_no_line_is_wide(recorded: str, incoming: str) -> None:
    lines = _explain("x" * 160 + recorded, "x" * 160 + incoming)
    assert all(line.isprintable() for line in lines)
    assert lines[0].startswith(f"replay mismatch at call 1, field {FIELD}:")
