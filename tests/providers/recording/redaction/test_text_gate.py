"""The gates are fast and let everything through that the rules would find."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import example, given, settings

from openprogram.providers.recording.redaction.json_text import (
    JsonScanner,
    is_json_string,
    may_be_json,
)
from openprogram.providers.recording.redaction.text_gate import (
    LONGEST_TRIGGER,
    RULES,
    TRIGGER,
    find_candidates,
    might_be_secret_json,
)
from openprogram.providers.recording.redaction.text_parts import OpenPart
from openprogram.providers.recording.redaction.text_values import Replacement
from openprogram.providers.recording.redaction.texts import find_in_part, find_replacements
from redaction_texts import SECRETS, TEXTS, hidden_texts, kept_texts


def found_without_gates(text: str) -> list[Replacement]:
    """Judge every line of a text, and every string of JSON."""
    if may_be_json(text) or is_json_string(text):
        scanner = JsonScanner(text, found_without_gates)
        scanner.scan()
        return scanner.found
    found: list[Replacement] = []
    start, part, open_part = 0, "", OpenPart()
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        part += line
        if open_part.goes_on_after(line):
            continue
        found += [Replacement(start + a, start + b, new) for a, b, new in find_in_part(part)]
        start, part, open_part = start + len(part), "", OpenPart()
    return found + [Replacement(start + a, start + b, new) for a, b, new in find_in_part(part)]


@settings(max_examples=300)
@given(TEXTS)
@example("%26AGE-SECRET-KEY-1QQZRFRFR7ZQQPQZRFR7ZQQPQZRF\\u00417ZQQPQZRFRZQ")
@example('{"passw?d":4')
@example("%3A%2F%2F#%3A%40e")
@example("key:|\n -----BEGIN PRIVATE KEY-----\n-\nh")
@example('{"token@":5')
def test_gates_never_keep_out_what_the_rules_find(text: str):
    found = find_replacements(text)
    for one in found_without_gates(text):
        assert any(start <= one.start and one.end <= end for start, end, _ in found), one


def test_every_secret_has_a_trigger_and_a_candidate():
    for case in hidden_texts(SECRETS[1]):
        assert TRIGGER.search(case.text.lower()), case.id
        is_json = may_be_json(case.text) or is_json_string(case.text)
        has_candidate = might_be_secret_json if is_json else find_candidates
        assert has_candidate(case.text), case.id


def test_plain_texts_have_no_candidates():
    text = (
        "The quick brown fox - with well-known (old) tricks: a, b = 1; see https://h.test/x.\n" * 9
    )
    assert find_candidates(text) == []
    assert not might_be_secret_json(json.dumps({"text": text, "key": "Enter", "max_tokens": 5}))


def test_candidates_rise_and_stand_on_the_line_of_the_secret():
    text = "one\ntwo token=a1 password=b\nthree\ncurl \\\n  -u a:b1\n%74oken%3Da1\n"
    candidates = find_candidates(text)
    assert candidates == sorted(candidates)
    lines = {text.count("\n", 0, place) for place in candidates}
    assert lines == {1, 3, 4, 5}


@pytest.mark.parametrize("trigger", sorted({one for rule in RULES for one in rule.triggers}))
def test_every_trigger_is_in_the_one_pattern(trigger: str):
    """The shortest text that a trigger matches lets it through, and is not too long."""
    text = re.sub(r"\[(.)[^\]]*\]|\\(.)", r"\1\2", trigger)
    assert re.fullmatch(trigger, text)
    assert TRIGGER.search(f"x {text} x")
    assert len(text) <= LONGEST_TRIGGER


@pytest.mark.parametrize("depth", range(15))
def test_secrets_in_nested_json_pass_the_gate_at_any_depth(depth: int):
    text = "password:\n  hunter2222"
    for _ in range(depth):
        text = json.dumps({"a": text})
    assert might_be_secret_json(json.dumps(text))


def test_kept_texts_are_seldom_candidates():
    """A gate that is open to everything would be no gate."""
    candidates = [text for text in kept_texts() if find_candidates(text)]
    assert len(candidates) < len(kept_texts()) / 2
