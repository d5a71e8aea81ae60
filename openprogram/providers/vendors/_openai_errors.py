"""Translates what the `openai` SDK raises; imported with it, on the first call."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import httpx2
import openai

from openprogram.providers.vendors._failures import failure
from openprogram.providers.vendors._network import of_network
from openprogram.providers.vendors._openai_failures import failure_of

if TYPE_CHECKING:
    from collections.abc import Generator


_MALFORMED = (TypeError, ValueError, RecursionError)
"""What building a request and decoding an answer raise."""


@contextmanager
def translated(phase: Literal["request", "answer"]) -> Generator[None]:
    """Raise what the SDK raises as a `ModelRequestError`.

    Args:
        phase: What is going on, for the errors that do not say themselves whose fault they are.

    Raises:
        ModelRequestError: Whatever a vendor or a network can do to a request.
    """
    try:
        yield
    except openai.APIStatusError as error:
        status = error.status_code
        raise failure_of(error.body, http_status=status, headers=error.response.headers) from error
    except openai.APIConnectionError as error:
        raise of_network(error.__cause__ or error) from error
    except openai.APIError as error:
        raise failure_of(error.body or error.message) from error
    except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
        raise of_network(error) from error
    except (openai.OpenAIError, httpx2.InvalidURL, *_MALFORMED) as error:
        # Only the name: the text may quote a header, and so the key.
        if phase == "request":
            raise failure("bad_request", f"the request cannot be sent ({_name(error)})") from error
        raise failure("bad_response", f"the answer cannot be read ({_name(error)})") from error


def _name(error: BaseException) -> str:
    return type(error).__name__
