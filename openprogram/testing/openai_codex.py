"""The `openai-codex` protocol, from the vendor's side: the Responses dialect of subscriptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openprogram.testing.answers import HttpError
from openprogram.testing.openai_responses import Detail, OpenAIResponses

if TYPE_CHECKING:
    from openprogram.testing.protocol import ReceivedRequest

_NOT_TAKEN = ("max_output_tokens", "prompt_cache_retention", "safety_identifier", "temperature")
_NEEDED_HEADERS = ("chatgpt-account-id", "originator", "user-agent")


class OpenAICodex(OpenAIResponses):
    """Checks requests as the backend of subscriptions does, and answers as `OpenAIResponses`.

    Args:
        detail: How finely answers are told.
    """

    def __init__(self, *, detail: Detail = "deltas") -> None:
        super().__init__(detail=detail, base_path="/backend-api", path="/codex/responses")

    def refuse(self, request: ReceivedRequest) -> HttpError | None:
        """Judge a request as the vendor would; see `VendorProtocol.refuse`."""
        refusal = super().refuse(request)
        if refusal is not None:
            return refusal
        for name in _NEEDED_HEADERS:
            if not request.headers.get(name):
                return HttpError(status=401, message=f"the header {name} is missing")
        if not request.body.get("instructions"):
            return HttpError(status=400, message="Instructions are required")
        for name in _NOT_TAKEN:
            if name in request.body:
                return HttpError(status=400, message=f"Unsupported parameter: {name}")
        return None
