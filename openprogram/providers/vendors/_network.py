"""Where requests go, and what the HTTP library says when one gets no whole answer.

Imported with an SDK, never before: the HTTP library is the SDK's.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

import httpx2

from openprogram.errors import quoted
from openprogram.providers.vendors._failures import failure

if TYPE_CHECKING:
    from openprogram.errors import ModelRequestError


def is_loopback(base_url: str) -> bool:
    """Say whether a place is this machine; no proxy stands between it and itself.

    Args:
        base_url: Any text.

    Returns:
        False too for what is no URL.

    Example:
        >>> [is_loopback(url) for url in ("http://127.0.0.1:9/v1", "http://[::1]", "http://a.io")]
        [True, True, False]
    """
    try:
        host = httpx2.URL(base_url).host
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except (ValueError, httpx2.InvalidURL):
        return False


def of_network(error: BaseException) -> ModelRequestError:
    """Say why a request got no answer, or not all of it.

    Args:
        error: What the HTTP library or the system raised.

    Returns:
        The error to raise; its text quotes no header and no credential of the URL.
    """
    name = type(error).__name__
    match error:
        case httpx2.UnsupportedProtocol() | httpx2.InvalidURL():
            return failure("bad_request", f"model.base_url is not usable: {name}")
        case httpx2.LocalProtocolError() | ValueError():
            # Its text quotes the header that cannot be sent, and that may be the key.
            return failure("bad_request", "a header of the request cannot be sent")
        case httpx2.TimeoutException():
            return failure("network", f"the vendor did not answer in time ({name})")
        case httpx2.DecodingError():
            return failure("bad_response", f"the answer cannot be read ({name})")
        case httpx2.ConnectError():
            return failure("network", _say_unreachable(error))
        case _:
            detail = f": {error}" if str(error) else ""
            return failure("network", f"the connection failed ({name}{detail})")


def _say_unreachable(error: httpx2.ConnectError) -> str:
    try:
        url = error.request.url
    except RuntimeError:
        # The error does not know its request.
        place = "model.base_url"
    else:
        # Not the whole URL: it may hold a name, a password or a key.
        host = f"[{url.host}]" if ":" in url.host else url.host
        place = quoted(f"{url.scheme}://{host}{f':{url.port}' if url.port else ''}")
    return f"nothing answers at {place} ({error}): see that the server runs and that the URL is its"
