"""Where an OpenAI-compatible server is: its base URL, apart from the credentials that may stand in it."""

from __future__ import annotations

import base64
import os
from urllib.parse import unquote, urlsplit, urlunsplit

import attrs

from ..protocol.errors import InvalidArgument

__all__ = ["OPENAI_HOST", "Endpoint", "endpoint_from"]

OPENAI_HOST = "api.openai.com"


@attrs.frozen
class Endpoint:
    """`url` is without credentials, None for the SDK's own default; `host` is what may be shown.

    `authorization` is the header that the credentials of the URL stand for.
    """

    url: str | None = attrs.field(repr=False)
    host: str
    authorization: str | None = attrs.field(default=None, repr=False)

    @property
    def is_openai(self) -> bool:
        """Whether it is OpenAI's own, which always asks for a key."""
        return self.host == OPENAI_HOST


def endpoint_from(base_url: str | None, variable: str) -> Endpoint:
    """The endpoint of `base_url`, else of the environment variable, else OpenAI's own.

    Raises `InvalidArgument` for what is no http URL of a server, or has a query, without showing it.
    """
    field = "base_url"
    if base_url is None:
        field, base_url = variable, os.environ.get(variable, "").strip() or None
    if base_url is None:
        return Endpoint(None, OPENAI_HOST)
    problem, endpoint = _read(base_url)
    if endpoint is None:
        raise InvalidArgument(field, problem)
    return endpoint


def _read(url: object) -> tuple[str, Endpoint | None]:
    if not isinstance(url, str) or not url.isprintable() or " " in url:
        return "must be a URL, without white space", None
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "is no URL", None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "must be the URL of a server, such as http://localhost:8080/v1", None
    if parts.query or parts.fragment:
        return "must have neither a query nor a fragment", None
    name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    host = name if port is None else f"{name}:{port}"
    authorization = None
    if parts.username or parts.password:
        user = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        authorization = f"Basic {base64.b64encode(user.encode()).decode()}"
    return "", Endpoint(urlunsplit((parts.scheme, host, parts.path, "", "")), host, authorization)
