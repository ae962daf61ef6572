"""Every error that Dragoman raises.

All share `DragomanError`, and each also is the standard type that a caller would catch without knowing Dragoman.
Their fields are structured; no message holds source, translation, prompt or payload text (C14).
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "ActorFailed",
    "ActorStopped",
    "BlockingInHandler",
    "ContentRefNotFound",
    "DragomanError",
    "IllegalTransition",
    "InvalidArgument",
    "InvalidSetting",
    "RuntimeClosed",
    "SimulationStalled",
    "TranslationRefused",
    "UnknownCall",
]


class DragomanError(Exception):
    """Base of every error of this package. All can be pickled and copied; `fields` names what they are made of."""

    fields: ClassVar[tuple[str, ...]] = ()

    def __reduce__(self) -> tuple[type[DragomanError], tuple[object, ...]]:
        return type(self), tuple(getattr(self, name) for name in self.fields)


class InvalidArgument(DragomanError, ValueError):
    """An argument of a public call has the wrong type or range; `field` names it.

    Raised by the call itself, before anything was sent. What to do: correct the argument; nothing was changed.
    """

    fields = ("field", "problem")

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class InvalidSetting(InvalidArgument):
    """A field of `Settings` or of a provider policy has a bad value; `field` names it.

    Raised as the settings are made. What to do: see what the field takes, which `problem` tells.
    """


class IllegalTransition(DragomanError, RuntimeError):
    """An event that a state table has no entry for. The state is unchanged.

    Raised by the pure rules alone; a runtime asks them for nothing that they do not have. What to do: if it is seen as
    the `error_type` of an `ActorFailed`, that is a fault of Dragoman, to be reported.
    """

    fields = ("state", "event")

    def __init__(self, state: object, event: object) -> None:
        super().__init__(f"{event} is no event of the state {state}")
        self.state = state
        self.event = event


class RuntimeClosed(DragomanError, RuntimeError):
    """The runtime has been closed; it answers nothing more.

    Raised by every call after `close`. What to do: call before it, or make a new `Runtime`, whose memory is empty.
    """

    def __init__(self) -> None:
        super().__init__("this runtime is closed: make a new Runtime, or call before close()")


class ActorStopped(DragomanError, RuntimeError):
    """The actor stopped before it handled the message; nothing was changed by it.

    Raised where an answer is waited for, mostly of what was asked while the runtime closed. What to do: as with
    `RuntimeClosed`.
    """

    fields = ("actor",)

    def __init__(self, actor: str) -> None:
        super().__init__(f"{actor} stopped before it handled the message")
        self.actor = actor


class ActorFailed(DragomanError, RuntimeError):
    """A handler raised. The fault is named by type and place, never by its text, which could hold content.

    Raised where the answer is waited for; the actor goes on. What to do: ask `request_status` what became of the
    request, and report the type and the place: it is a fault of Dragoman, or of an object that was given to it.
    """

    fields = ("actor", "error_type", "module", "line")

    def __init__(self, actor: str, error_type: str, module: str, line: int) -> None:
        super().__init__(f"{actor} failed with {error_type} in {module}, line {line}")
        self.actor = actor
        self.error_type = error_type
        self.module = module
        self.line = line


class BlockingInHandler(DragomanError, RuntimeError):
    """A handler or callback of an actor called `.get()` on an answer that is not there yet; that could never end.

    Raised in callbacks of futures, features and progress callbacks, which run inside the runtime. What to do: return,
    and go on in a callback of that answer, or hand the work to a thread or task of the program.
    """

    def __init__(self) -> None:
        super().__init__("an actor must not wait: send the message and go on when the answer comes")


class SimulationStalled(DragomanError, RuntimeError):
    """Under virtual time an answer was waited for that nothing is on its way to give.

    Raised with a `SimulatedDispatcher` only. What to do: advance the clock, or give the answer that it waits for.
    """

    def __init__(self) -> None:
        super().__init__(
            "every mailbox is empty and the answer is still missing: advance the clock, or give what it waits for"
        )


class UnknownCall(DragomanError, LookupError):
    """An answer names a physical call that its request never made, or that is not remembered any more.

    Raised where `respond` or `fail` is waited for. What to do: take the ids from the calls that the provider was given.
    """

    fields = ("call",)

    def __init__(self, call: str) -> None:
        super().__init__(f"no call {call} was made")
        self.call = call


class TranslationRefused(DragomanError, RuntimeError):
    """A translation or direct call was not started; nothing was done. `status` and `reason` say why.

    Raised where the outcome is waited for. What to do: see `StartStatus`.
    """

    fields = ("status", "reason")

    def __init__(self, status: str, reason: str | None = None) -> None:
        super().__init__(f"not started: {status}" + (f", {reason}" if reason else ""))
        self.status = status
        self.reason = reason


class ContentRefNotFound(DragomanError, LookupError):
    """A reference to content does not resolve (P constraint 4); `reason` is a word of `MissReason`.

    What belongs to another session is `unknown`, like what never was. Raised where `content` is waited for. What to do:
    go by the reason; a value is never made up.
    """

    fields = ("reason",)

    def __init__(self, reason: str) -> None:
        super().__init__(f"content_ref_not_found: {reason}{_WHAT_NOW.get(reason, '')}")
        self.reason = reason


_WHAT_NOW = {
    "evicted": "; it made room for newer content: a larger store_max_entries, store_max_bytes or store_total_bytes",
    "expired": "; its life time is over: a longer store_ttl",
    "not_stored": "; the record of the call says why (calls(session), reason); a turn was too large, or content is off",
    "unknown": "; another session's, never there, or forgotten: keep refs with their session",
}
