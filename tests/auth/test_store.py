"""The credential store is the owner's alone, and never shows what it holds."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from openprogram import _private_files
from openprogram.auth.store import (
    Credential,
    read_credentials,
    remove_credential,
    store_credential,
)
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


def test_a_stored_credential_is_read_again_and_the_file_is_the_owners_alone(state_dir: Path):
    before = os.umask(0)
    try:
        assert store_credential("anthropic", Credential(api_key="k1")) is False
        assert store_credential("anthropic", Credential(api_key="k2")) is True
    finally:
        os.umask(before)
    assert read_credentials() == {"anthropic": Credential(api_key="k2")}
    assert state_dir.stat().st_mode & 0o777 == 0o700
    assert {path.name: path.stat().st_mode & 0o777 for path in state_dir.iterdir()} == {
        "credentials.json": 0o600,
        "credentials.json.lock": 0o600,
    }


def test_what_other_programs_keep_stays_as_it_is(state_dir: Path):
    path = write(
        state_dir,
        '{"x": {"note": 1e400, "n": 12345678901234567890123}, "y": {"access_token": "t"}}',
    )
    assert store_credential("x", Credential(api_key="k")) is True
    assert store_credential("y", Credential(api_key="k")) is True
    text = path.read_text()
    assert "1e400" in text
    assert "12345678901234567890123" in text
    assert read_credentials()["y"] == Credential(api_key="k", access_token="t")
    assert remove_credential("x") is True
    assert list(json.loads(path.read_text())) == ["y"]


def test_removing_what_is_not_there_makes_nothing(state_dir: Path):
    assert remove_credential("anthropic") is False
    assert not state_dir.exists()


def test_what_cannot_be_understood_is_never_written_back(state_dir: Path, tmp_path: Path):
    path = write(state_dir, '{"anthropic": "sk-secret"}')
    with pytest.raises(ConfigError) as caught:
        store_credential("openai", Credential(api_key="k"))
    assert "secret" not in str(caught.value)
    assert path.read_text() == '{"anthropic": "sk-secret"}'
    path.rename(tmp_path / "target")
    path.symlink_to(tmp_path / "target")
    with pytest.raises(UnsafeFileError):
        store_credential("openai", Credential(api_key="k"))
    assert (tmp_path / "target").read_text() == '{"anthropic": "sk-secret"}'


def test_a_disk_that_takes_no_more_leaves_the_store_as_it_was(
    state_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    path = write(state_dir, '{"a": {"api_key": "k"}}')

    def full(_fd: int, _data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_private_files, "write_all", full)
    with pytest.raises(ConfigError, match="cannot be changed: No space left"):
        store_credential("b", Credential(api_key="k"))
    assert path.read_text() == '{"a": {"api_key": "k"}}'


def test_processes_that_store_at_once_lose_nothing():
    code = (
        "import sys; from openprogram.auth.store import Credential, store_credential\n"
        "sys.stdin.readline()\n"
        "for n in range(8): store_credential(f'{sys.argv[1]}-{n}', Credential(api_key='k'))\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", code, name], stdin=subprocess.PIPE)
        for name in ("a", "b", "c")
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"go\n")
        writer.stdin.close()
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0]
    assert set(read_credentials()) == {f"{name}-{n}" for name in "abc" for n in range(8)}
