"""A tool by which a model reads earlier results: its definition, and an executor that only reads (P phase 2.1)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .actors.futures import Future
from .protocol.content_messages import Resolved
from .protocol.handoff import exact
from .protocol.payloads import value_in
from .protocol.prompt_refs import MISS_GUIDANCE
from .protocol.statuses import FollowUpMiss

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


_TOO_LARGE = "Say that the earlier result is too large to be read whole, and its kind and size. Do not make it up."


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
    `arun` execute a call with the arguments as the model wrote them, a dict or JSON text, and answer with what can be
    sent back as JSON: `{"value": …}`, or an `error` with guidance. What a model writes never raises here.
    """

    name = _NAME
    description = _DESCRIPTION

    def __init__(
        self, read: Callable[[str, str, int | None], Future[Resolved]], session_id: str, max_bytes: int | None
    ) -> None:
        self._read = read
        self._session_id = session_id
        self._max_bytes = max_bytes

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

    def run(self, arguments: dict[str, Any] | str, timeout: float | None = None) -> dict[str, Any]:
        """Execute a call, waiting up to `timeout` seconds; raises `WaitTimeout` and `RuntimeClosed`."""
        found = self._look_up(arguments)
        return dict(_BAD_ARGUMENTS) if found is None else _told(found.get(timeout))

    async def arun(self, arguments: dict[str, Any] | str) -> dict[str, Any]:
        """`run` for asyncio."""
        found = self._look_up(arguments)
        return dict(_BAD_ARGUMENTS) if found is None else _told(await found)

    def _look_up(self, arguments: object) -> Future[Resolved] | None:
        ref = _ref_in(arguments)
        return None if ref is None else self._read(self._session_id, ref, self._max_bytes)


def _ref_in(arguments: object) -> str | None:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return None
    if not isinstance(arguments, dict) or arguments.keys() != {"ref"}:
        return None
    ref = arguments["ref"]
    return (exact(ref).strip() or None) if isinstance(ref, str) else None


def _told(found: Resolved) -> dict[str, Any]:
    if found.miss is not None:
        return {
            "error": FollowUpMiss.CONTENT_REF_NOT_FOUND.value,
            "reason": found.miss.value,
            "guidance": MISS_GUIDANCE[found.miss],
        }
    if found.content is None:
        kind = None if found.kind is None else found.kind.value
        return {"error": "too_large", "kind": kind, "bytes": found.bytes, "guidance": _TOO_LARGE}
    return {"value": value_in(found.content.body)}
