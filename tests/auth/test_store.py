"""The credential store is the owner's alone, and never shows what it holds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from openprogram.auth.store import Credential, read_credentials
from openprogram.errors import ConfigError, UnsafeFileError

if TYPE_CHECKING:
    from pathlib import Path


def write(state_dir: Path, text: str | bytes, mode: int = 0o600) -> Path:
    state_dir.mkdir(mode=0o700, exist_ok=True)
    path = state_dir / "credentials.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(mode)
    return path


def test_no_file_is_no_credential_and_makes_nothing(state_dir: Path):
    assert read_credentials() == {}
    assert not state_dir.exists()


def test_credentials_are_read_by_provider_and_unknown_fields_ignored(state_dir: Path):
    write(state_dir, '{"anthropic": {"api_key": "k", "note": 1}, "x": {"access_token": "t"}}')
    assert read_credentials() == {
        "anthropic": Credential(api_key="k"),
        "x": Credential(access_token="t"),
    }


def test_the_text_form_shows_no_secret():
    assert "hidden" not in f"{Credential(api_key='hidden')!r} {Credential(api_key='hidden')}"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_file_open_to_others_is_refused_with_the_remedy_and_left_alone(
    state_dir: Path, mode: int
):
    path = write(state_dir, "{}", mode)
    with pytest.raises(UnsafeFileError, match="chmod 600"):
        read_credentials()
    assert path.stat().st_mode & 0o777 == mode


def test_a_symbolic_link_is_refused(state_dir: Path, tmp_path: Path):
    target = tmp_path / "elsewhere.json"
    target.write_text("{}")
    state_dir.mkdir(mode=0o700)
    (state_dir / "credentials.json").symlink_to(target)
    with pytest.raises(UnsafeFileError):
        read_credentials()


def test_a_named_pipe_is_refused_and_never_waited_for(state_dir: Path):
    state_dir.mkdir(mode=0o700)
    os.mkfifo(state_dir / "credentials.json", 0o600)
    with pytest.raises(UnsafeFileError):
        read_credentials()


@pytest.mark.parametrize(
    "text",
    [b"", b"[]", b'{"anthropic": "sk-secret"}', b'{"anthropic": {"api_key": 5}}', b"\xff", b"{bad"],
)
def test_what_is_no_store_is_an_error_that_quotes_nothing(state_dir: Path, text: bytes):
    write(state_dir, text)
    with pytest.raises(ConfigError, match="credentials by provider") as caught:
        read_credentials()
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
