"""The face of redaction: public names, loaded when they are used."""

from __future__ import annotations

import subprocess
import sys

import pytest

from openprogram.providers.recording import redaction
from openprogram.providers.recording.redaction import field_names, text_values, texts, values


def test_public_names_are_those_of_the_contract():
    assert redaction.PLACEHOLDER == "[secret removed]"
    assert redaction.REDACTION_VERSION == 1
    assert {"api_key", "set_cookie", "passphrase", "session_key"} <= redaction.SECRET_FIELD_NAMES
    assert "next_page_token" in redaction.DATA_FIELD_NAMES


def test_names_are_the_same_objects_as_where_they_are_made():
    assert redaction.PLACEHOLDER is text_values.PLACEHOLDER
    assert redaction.is_secret_field is field_names.is_secret_field
    assert redaction.remove_secret_values is values.remove_secret_values
    assert redaction.remove_secrets_from_text is texts.remove_secrets_from_text
    for name in redaction.__all__:
        assert getattr(redaction, name) is not None


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="is_safe"):
        _ = redaction.is_safe


def test_rules_load_on_first_use():
    code = """
import sys
from openprogram.providers.recording.redaction import PLACEHOLDER, REDACTION_VERSION
assert "openprogram.providers.recording.redaction.text_gate" not in sys.modules
from openprogram.providers.recording.redaction import remove_secret_values
assert "openprogram.providers.recording.redaction.text_gate" in sys.modules
assert remove_secret_values({"token": "a"}) == {"token": PLACEHOLDER}
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
