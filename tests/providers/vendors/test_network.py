"""This machine is told from others, and failures are words without header or credential."""

from __future__ import annotations

import httpx2
import pytest

from openprogram.providers.vendors._network import is_loopback, of_network


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (httpx2.UnsupportedProtocol("ftp"), "bad_request"),
        (httpx2.LocalProtocolError("Illegal header value b'sk-secret'"), "bad_request"),
        (UnicodeEncodeError("ascii", "sk-secret\xe9", 9, 10, "sk-secret"), "bad_request"),
        (httpx2.ReadTimeout(""), "network"),
        (httpx2.DecodingError("zlib"), "bad_response"),
        (httpx2.RemoteProtocolError("peer closed connection"), "network"),
        (OSError(104, "Connection reset by peer"), "network"),
        (httpx2.ConnectError("refused"), "network"),
    ],
)
def test_each_failure_has_its_word_and_keeps_secrets(error: Exception, reason: str):
    failed = of_network(error)
    assert failed.reason == reason
    assert "sk-secret" not in str(failed)


def test_a_server_that_does_not_run_is_named_without_its_credential():
    request = httpx2.Request("POST", "http://user:pass-word@[::1]:11434/v1/chat?key=sk-secret")
    failed = of_network(httpx2.ConnectError("refused", request=request))
    assert str(failed) == (
        "nothing answers at 'http://[::1]:11434' (refused): "
        "see that the server runs and that the URL is its"
    )


def test_only_this_machine_is_loopback():
    for url in ("http://localhost:1/v1", "http://127.8.9.1", "https://[::1]:5/v1"):
        assert is_loopback(url)
    for url in ("http://10.0.0.1", "http://localhost.evil", "http://0.0.0.0", "", "http://["):
        assert not is_loopback(url)
