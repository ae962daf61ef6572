"""What an OpenAI-compatible endpoint complains of, in the contract's error names (C7).

| HTTP status, or the code of an error in a body | name |
|---|---|
| 400, 404, 413, 422, 500 that speak of the length of the context; any other 413 | `TEXT_TOO_LONG` |
| 400, 403, 404, 422, 500 that speak of a content filter or of moderation | `POLICY` |
| 400 that speaks of a wrong key, 401, any other 403 (of a region or a permission, say) | `API_KEY_INVALID` |
| any other 400, 404, 422 | `VALIDATION` |
| 402 | `INSUFFICIENT_BALANCE` |
| 429 whose code tells a used-up quota | `QUOTA_EXCEEDED` |
| 429 whose code tells an overload, 503, 529 | `MODEL_OVERLOADED` |
| any other 429 | `RATE_LIMIT_REACHED` |
| any other 5xx | `SERVER_ERROR` |
| anything else, such as 408, 409 and 425 | `HTTP_ERROR` |

What never became a response (no connection, a cut one, a time-out, half a body) is a `NETWORK_ERROR`, and a response
that is no chat completion is `API_RESPONSE_INVALID`. An error that a body with status 200 holds is read by its code,
or by its kind where the code is no status; one that tells neither is a `SERVER_ERROR`.

The names are chosen for what they make the runtime do: whether another attempt may help, or another key.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import attrs

from ..protocol.failures import POLICY, TEXT_TOO_LONG, ProviderError
from ..protocol.redaction import redacted
from ..protocol.settings import MAX_SECONDS

__all__ = ["Complaint", "error_name", "failure_of", "retry_after"]

_LONGEST_MESSAGE = 4096
_TOO_LONG = re.compile(
    r"context[ _](?:length|size|window)|maximum context|max(?:imum)?[ _]model[ _]len|context_length_exceeded"
    r"|string_above_max_length|(?:prompt|input|request|text) is too (?:long|large)|too many (?:input )?tokens"
)
_MODERATED = re.compile(
    r"content[ _-]?(?:filter|policy|management)|responsibleai|moderation|content exists risk|data_?inspection"
)
_WRONG_KEY = re.compile(
    r"(?:invalid|incorrect|wrong|missing)[ _]api[ _]key|api[ _]key (?:is )?(?:not valid|invalid|expired)"
)
_QUOTA_CODES = re.compile(r"insufficient_?(?:user_?)?quota|billing|quota_?exceeded|exceeded_current_quota")
_STATUS_OF_KIND = (
    (re.compile(r"rate_?limit|too_?many_?requests|quota|billing"), 429),
    (re.compile(r"overload|unavailable|capacity"), 503),
    (re.compile(r"api_?key|auth|permission"), 401),
    (re.compile(r"balance|payment|credit"), 402),
    (re.compile(r"invalid|bad_?request|context_length|content_(?:filter|policy)|unsupported"), 400),
)


@attrs.frozen
class Complaint:
    """The error of an endpoint. `kinds` are its codes and types in lower case, `param` what it is about."""

    status: int
    kinds: str = ""
    param: str = attrs.field(default="", repr=redacted)
    message: str = attrs.field(default="", repr=redacted)

    @classmethod
    def of(cls, status: int, body: object) -> Complaint:
        """The complaint of a response with that status; `body` is its decoded JSON, or its text."""
        error = _error_in(body)
        if not isinstance(error, Mapping):
            return cls(status, message=str(error or "")[:_LONGEST_MESSAGE].lower())
        kinds = " ".join(_words(error, "code", "type", "status"))
        inner = error.get("innererror")
        if isinstance(inner, Mapping):
            kinds = " ".join((kinds, *_words(inner, "code")))
        about = " ".join((*_words(error, "param"), *_places(error)))
        message = " ".join((*_words(error, "message", "msg", "detail"), *_details(error)))
        return cls(status, kinds.lower(), about.lower(), message[:_LONGEST_MESSAGE].lower())

    @classmethod
    def in_body(cls, error: object) -> Complaint:
        """The complaint that stands in a body of status 200."""
        said = cls.of(200, {"error": error})
        code = error.get("code") if isinstance(error, Mapping) else None
        if isinstance(code, str) and code.isascii() and code.isdigit() and len(code) == 3:
            code = int(code)
        if isinstance(code, int) and not isinstance(code, bool) and 400 <= code <= 599:
            return attrs.evolve(said, status=code)
        status = next((status for kind, status in _STATUS_OF_KIND if kind.search(said.kinds)), 500)
        return attrs.evolve(said, status=status)

    @property
    def words(self) -> str:
        return f"{self.kinds} {self.message}"


def failure_of(complaint: Complaint, headers: Mapping[str, str]) -> ProviderError:
    """The complaint as the runtime takes it, with the wait that the endpoint asks for."""
    waits = complaint.status == 429 or complaint.status >= 500
    return ProviderError(error_name(complaint), retry_after(headers) if waits else None)


def error_name(complaint: Complaint) -> str:
    """The contract's name; see the table of the module."""
    status, words = complaint.status, complaint.words
    if status in (400, 404, 413, 422, 500) and _TOO_LONG.search(words):
        return TEXT_TOO_LONG
    if status in (400, 403, 404, 422, 500) and _MODERATED.search(words):
        return POLICY
    if status in (401, 403) or (status == 400 and _WRONG_KEY.search(words)):
        return "API_KEY_INVALID"
    if status == 429:
        if _QUOTA_CODES.search(complaint.kinds):
            return "QUOTA_EXCEEDED"
        return "MODEL_OVERLOADED" if "overload" in complaint.kinds else "RATE_LIMIT_REACHED"
    if status in _NAME_OF_STATUS:
        return _NAME_OF_STATUS[status]
    return "SERVER_ERROR" if status >= 500 else "HTTP_ERROR"


_NAME_OF_STATUS = {
    400: "VALIDATION",
    402: "INSUFFICIENT_BALANCE",
    404: "VALIDATION",
    413: TEXT_TOO_LONG,
    422: "VALIDATION",
    503: "MODEL_OVERLOADED",
    529: "MODEL_OVERLOADED",
}


def retry_after(headers: Mapping[str, str], now_s: float | None = None) -> float | None:
    """The seconds that `Retry-After` (or `retry-after-ms`) asks to wait; None without it or if it says nothing.

    A date counts from the `Date` of the response, so that a clock that is wrong here does not matter.
    """
    wait = _number(headers.get("retry-after-ms"))
    if wait is not None:
        wait /= 1000
    else:
        wait = _number(headers.get("retry-after"))
    if wait is None:
        until = _date(headers.get("retry-after"))
        if until is None:
            return None
        since = _date(headers.get("date"))
        wait = until - (since if since is not None else time.time() if now_s is None else now_s)
    return min(max(wait, 0.0), float(MAX_SECONDS))


_NUMBER = re.compile(r"\s*(\d+(?:\.\d*)?)\s*", re.ASCII)


def _number(value: str | None) -> float | None:
    found = _NUMBER.fullmatch(value or "")
    return float(found[1]) if found else None


def _date(value: str | None) -> float | None:
    if value is None:
        return None
    try:
        moment: datetime = parsedate_to_datetime(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _error_in(body: object) -> object:
    """The error itself, out of what servers wrap it in."""
    if isinstance(body, list) and body:
        body = body[0]
    if isinstance(body, Mapping) and body.get("error"):
        return body["error"]
    return body


def _words(error: Mapping[Any, Any], *keys: str) -> Iterator[str]:
    for key in keys:
        value = error.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool):
            yield str(value)


def _findings(error: Mapping[Any, Any]) -> Iterator[Mapping[Any, Any]]:
    """The findings of a server that validates requests; never what it was sent, which some of them repeat."""
    detail = error.get("detail")
    for finding in detail if isinstance(detail, list) else ():
        if isinstance(finding, Mapping):
            yield finding


def _places(error: Mapping[Any, Any]) -> Iterator[str]:
    for finding in _findings(error):
        place = finding.get("loc")
        if isinstance(place, list):
            yield ".".join(map(str, place))


def _details(error: Mapping[Any, Any]) -> Iterator[str]:
    for finding in _findings(error):
        yield from _words(finding, "msg")
    metadata = error.get("metadata")
    if isinstance(metadata, Mapping):
        # A router's word for why an endpoint behind it refused.
        yield from _words(metadata, "raw")
        if metadata.get("flagged_input") or metadata.get("reasons"):
            yield "moderation"
