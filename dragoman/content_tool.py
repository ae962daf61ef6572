"""A tool by which a model reads earlier results: its definition, and an executor that only reads (P phase 2.1)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from .actors.futures import Future
from .protocol.errors import ContentRefNotFound
from .protocol.prompt_refs import MISS_GUIDANCE
from .protocol.statuses import FollowUpMiss, MissReason

__all__ = ["ContentTool"]

_NAME = "get_content"
_DESCRIPTION = (
    "Read an earlier result of this conversation by its ref, exactly as it was. "
    "Use it when the request builds on that result and its kind and size are not enough. "
    "If it answers content_ref_not_found, follow the guidance and do not make the result up."
)
_BAD_ARGUMENTS = {
    "error": "invalid_arguments",
    "guidance": 'Call it with one argument, as a JSON object: {"ref": "content:…"}, a ref from the list.',
}


def _parameters() -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"ref": {"type": "string", "description": "A ref (content:…) or the name of a call."}},
        "required": ["ref"],
        "additionalProperties": False,
    }


class ContentTool:
    """Reads content of one session and nothing else; from `Runtime.content_tool`.

    `definition` is what OpenAI-style clients take as a tool, `mcp` what the Model Context Protocol lists. `run` and
    `arun` execute a call with the arguments as the model wrote them, a mapping or JSON text, and answer with what can
    be sent back as JSON: `{"value": …}`, or an `error` with guidance. What a model writes never raises here.
    """

    name = _NAME
    description = _DESCRIPTION

    def __init__(self, content: Callable[[str, str], Future[Any]], session_id: str) -> None:
        self._content = content
        self._session_id = session_id

    def __repr__(self) -> str:
        return f"<ContentTool of {self._session_id}>"

    @property
    def definition(self) -> dict[str, Any]:
        """`{"type": "function", "function": {…}}` with a JSON schema of the parameters."""
        function = {"name": self.name, "description": self.description, "parameters": _parameters(), "strict": True}
        return {"type": "function", "function": function}

    @property
    def mcp(self) -> dict[str, Any]:
        """`{"name", "description", "inputSchema", "annotations"}`, marked as read-only."""
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": _parameters(),
            "annotations": {"readOnlyHint": True, "openWorldHint": False},
        }

    def run(self, arguments: Mapping[str, Any] | str, timeout: float | None = None) -> dict[str, Any]:
        """Execute a call, waiting up to `timeout` seconds; raises `WaitTimeout` and `RuntimeClosed`."""
        ref = _ref_in(arguments)
        if ref is None:
            return dict(_BAD_ARGUMENTS)
        try:
            return {"value": self._content(self._session_id, ref).get(timeout)}
        except ContentRefNotFound as miss:
            return _missing(miss)

    async def arun(self, arguments: Mapping[str, Any] | str) -> dict[str, Any]:
        """`run` for asyncio."""
        ref = _ref_in(arguments)
        if ref is None:
            return dict(_BAD_ARGUMENTS)
        try:
            return {"value": await self._content(self._session_id, ref)}
        except ContentRefNotFound as miss:
            return _missing(miss)


def _ref_in(arguments: object) -> str | None:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return None
    if not isinstance(arguments, Mapping) or set(arguments) != {"ref"}:
        return None
    ref = arguments["ref"]
    return ref.strip() if isinstance(ref, str) and ref.strip() else None


def _missing(miss: ContentRefNotFound) -> dict[str, Any]:
    reason = MissReason(miss.reason)
    return {
        "error": FollowUpMiss.CONTENT_REF_NOT_FOUND.value,
        "reason": reason.value,
        "guidance": MISS_GUIDANCE[reason],
    }
