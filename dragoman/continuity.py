"""The content part of the face: recorded calls, their content, follow-ups, and the retention policy (P)."""

from __future__ import annotations

import base64
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any

import attrs

from .actors.futures import Future
from .arguments import count_of, count_or_none, switch_of, text_of
from .asking import AskingFace
from .content_tool import ContentTool
from .protocol.content_messages import (
    CountMiss,
    FetchContent,
    FollowUp,
    ReadCalls,
    ReadContinuity,
    RecordCall,
    Refer,
    RenderRefs,
    Resolved,
)
from .protocol.content_replies import FollowUpReply, ReferReply
from .protocol.continuity import ContinuityReport
from .protocol.errors import ContentRefNotFound, DragomanError, InvalidArgument
from .protocol.governance_messages import ActOnProposal, Propose, ReadAudit, ReadProposal, ReadProposals
from .protocol.handoff import exact
from .protocol.mappings import WordMapping
from .protocol.messages import AnsweredAtFace
from .protocol.payloads import Payload, serialize, value_in
from .protocol.prompt_refs import PromptRefs
from .protocol.proposals import Act, AuditEntry, Proposal, ProposalReply, authority_of, examine_proposal
from .protocol.records import DEFAULT_ROLE, Call, CallRecord
from .protocol.settings import Settings
from .protocol.statuses import Authority, CallStatus, MissReason, ProposalState, ProposalStatus, SkipReason
from .recorded import MISSING, Outcome, RecordedCall, enclosing

__all__ = ["ContinuityFace"]

_MAX_SNAPSHOT_BYTES = 16 * 1024 * 1024
"""No value is written beyond this, or beyond `store_max_bytes` if that is more: a value may expand without end."""
_UNFINISHED = (Awaitable, Iterator, AsyncIterator)
_ID_BYTES = 5
_MAX_NAME_CHARS = 1000
_MAX_METHOD_CHARS = 100
"""Of the name of a method in an id that is made up."""
_MAX_SAY_CHARS = 1_000_000
_PROMPT_CHARS = 600
_TOOL_BYTES = 100_000


class _ContentFuture(Future[Any]):
    """The value of an entry: each `get` gives a fresh copy, made in the thread that wants it; a miss raises."""

    __slots__ = ()

    def _answer(self) -> Any:
        found: Resolved = super()._answer()
        if found.content is None:
            raise ContentRefNotFound(str(found.miss))
        return value_in(found.content.body)


class ContinuityFace(AskingFace):
    """What a runtime remembers of results, beside the conversation."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._largest_value = max(_MAX_SNAPSHOT_BYTES, settings.store_max_bytes)

    def record_call(self, session_id: str, call: Call, outcome: Outcome) -> Future[CallRecord]:
        """Record a call that has ended, and store its result where the retention policy says so (P phase 1).

        The value is written as JSON here and now: what becomes of it later changes nothing. The record says what was
        stored, or why nothing was (`reason`); a value that cannot be written is a reason, never an error. With
        `duplicate_call` and `OVERLOADED` (no room for a new session) nothing was recorded either.
        """
        session_id = _text("session_id", session_id)
        call = _exact_call(call)
        if not isinstance(outcome, Outcome):
            raise InvalidArgument("outcome", "must be Outcome.ok(value) or Outcome.error(type, message)")
        status = CallStatus.ERROR if switch_of("outcome.is_error", outcome.is_error) else CallStatus.OK
        return self._ask(RecordCall(session_id, call, status, self._snapshot_of(outcome.value)))

    def _snapshot_of(self, value: object) -> Payload | SkipReason:
        if not self.settings.content_enabled:
            return SkipReason.CONTENT_DISABLED
        if value is MISSING or issubclass(type(value), _UNFINISHED):
            return SkipReason.SERIALIZATION_FAILED
        return serialize(value, self._largest_value)

    def recorded(
        self,
        session_id: str | Callable[..., str],
        *,
        role: str = DEFAULT_ROLE,
        method: str | None = None,
        id: str | None = None,  # noqa: A002 (the word of the records)
        keep: bool = False,
    ) -> RecordedCall:
        """Record what happens in a `with` block, or each call of a decorated function, sync or async (P phase 1.4).

        Depth and parent follow from the recorded calls around it, per session, through threads that were started with
        `RecordedCall.bind` and through asyncio tasks. `method` is the name of the function, or `ask`; `id` is made up.
        For a function, `session_id` may be a callable that is given its arguments and tells the session.
        """
        return RecordedCall(
            self,
            session_id if callable(session_id) else _text("session_id", session_id),
            role=_text("role", role),
            method=None if method is None else _text("method", method),
            id=None if id is None else _text("id", id),
            keep=switch_of("keep", keep),
            new_id=self._new_id,
        )

    def _new_id(self, method: str) -> str:
        """An id that nothing else has: programs number their own calls, and one that is taken records nothing."""
        bits = self._dispatcher.random_bits(_ID_BYTES * 8).to_bytes(_ID_BYTES, "big")
        return f"{method[:_MAX_METHOD_CHARS]}-{base64.b32encode(bits).decode('ascii').lower()}"

    def current_call(self, session_id: str | None = None) -> RecordedCall | None:
        """The innermost recorded call that runs here, in this thread or task: of one session, or of any."""
        return enclosing(self, None if session_id is None else text_of("session_id", session_id))

    def refer(self, session_id: str, parent_id: str, child_id: str) -> Future[ReferReply]:
        """The call `parent_id` refers to the content of its child, which is stored from then on (P constraint 6).

        The child's value must still be held: `content_released` if it is not, or if there is no such call.
        """
        return self._ask(
            Refer(text_of("session_id", session_id), text_of("parent_id", parent_id), text_of("child_id", child_id))
        )

    def calls(self, session_id: str) -> Future[tuple[CallRecord, ...]]:
        """The records of a session, oldest first; no use of it."""
        return self._ask(ReadCalls(text_of("session_id", session_id)))

    def content(self, session_id: str, ref: str | None) -> Future[Any]:
        """A fresh copy of the value behind a ref, the id of a call, or `REQUEST/PARENT` (P phase 2.1). Read-only.

        Raises `ContentRefNotFound` with its `reason` on a miss, since None is a legal value. Nothing is ever made up,
        and what belongs to another session is `unknown`. The ref of what was not stored is None, and `not_stored`.
        """
        if not isinstance(ref, str | None):
            raise InvalidArgument("ref", "must be a ref, the id of a call, or REQUEST/PARENT")
        session_id = text_of("session_id", session_id)
        self._check_open()
        found = _ContentFuture(self._dispatcher)
        if ref is None:
            return self._send(self._crew.store, CountMiss(session_id, MissReason.NOT_STORED), found)
        return self._send(self._coordinator, FetchContent(session_id, exact(ref)), found)

    def follow_up(self, session_id: str, say: str, max_bytes: int | None = None) -> Future[FollowUpReply]:
        """Which earlier result `say` means, and its value unless a summary is enough (P phase 2.2).

        By fixed rules over the records of the session: the same words and records give the same answer. An entry of
        more than `max_bytes` bytes is `SUMMARY_ONLY`. `say` has at most a million characters.
        """
        max_bytes = count_or_none("max_bytes", max_bytes)
        say = text_of("say", say)
        if len(say) > _MAX_SAY_CHARS:
            raise InvalidArgument("say", f"must be at most {_MAX_SAY_CHARS} characters, not {len(say)}")
        return self._ask(FollowUp(text_of("session_id", session_id), say, max_bytes))

    def content_prompt(
        self,
        session_id: str,
        *,
        max_chars: int = _PROMPT_CHARS,
        conversation_chars: int | None = None,
        max_growth: float | None = 0.05,
        instructions: bool = True,
    ) -> Future[PromptRefs]:
        """The refs of a session for a prompt, newest first, within `max_chars` characters of lines (P phase 2.2).

        `instructions` says how to use them; leave them out where your system prompt does. `conversation_chars`, the
        length of the prompt without all that, lets the growth be measured, and be kept within `max_growth` (a share of
        it); the newest record is shown in any case.
        """
        max_chars = count_of("max_chars", max_chars)
        conversation_chars = count_or_none("conversation_chars", conversation_chars)
        if max_growth is not None:
            number = isinstance(max_growth, int | float) and not isinstance(max_growth, bool)
            if not (number and 0 <= max_growth < math.inf):
                raise InvalidArgument("max_growth", "must be a number of at least 0, or None")
        return self._ask(
            RenderRefs(
                text_of("session_id", session_id),
                max_chars,
                conversation_chars,
                max_growth,
                switch_of("instructions", instructions),
            )
        )

    def content_tool(self, session_id: str, *, max_bytes: int | None = _TOOL_BYTES) -> ContentTool:
        """A tool for a model that reads content of this session, and does nothing else (P phase 2.1).

        Of an entry larger than `max_bytes` it gives kind and size only; None is no limit.
        """
        max_bytes = count_or_none("max_bytes", max_bytes)
        return ContentTool(self._read_content, text_of("session_id", session_id), max_bytes)

    def _read_content(self, session_id: str, name: str, max_bytes: int | None) -> Future[Resolved]:
        return self._ask(FetchContent(session_id, name, max_bytes))

    def continuity_report(self, *, budget_bytes: int | None = None) -> Future[ContinuityReport]:
        """How content continuity does, and what is advised (P phase 3); `budget_bytes` is what memory it may take."""
        return self._ask(ReadContinuity(count_or_none("budget_bytes", budget_bytes)), self._crew.sessions)

    def propose(
        self,
        id: str,  # noqa: A002 (the word of the scenario language)
        by: str,
        change: Mapping[str, Any],
        evidence: str,
        rollback: str,
    ) -> Future[ProposalReply]:
        """Propose a change of the retention policy: settings with new values, why, and how to go back (P phase 3.4).

        `PROPOSED`, or `INVALID_PROPOSAL` with the reason. Nothing changes before two maintainers have agreed.
        """
        asked = _as_dict(change)
        reason = examine_proposal(id, by, asked, evidence, rollback, self.settings)
        if reason is not None:
            refused = ProposalReply(ProposalStatus.INVALID_PROPOSAL, reason)
            return self._answered(refused, AnsweredAtFace("propose", exact(id) if isinstance(id, str) else ""))
        proposal = Proposal(exact(id), exact(by), asked, exact(evidence), exact(rollback))
        return self._ask(Propose(proposal), self._crew.governor)

    def approve(self, id: str, by: str) -> Future[ProposalReply]:  # noqa: A002
        """A maintainer approves a proposal: the first of the two who must agree."""
        return self._act(id, Act.APPROVE, by)

    def acknowledge_proposal(self, id: str, by: str) -> Future[ProposalReply]:  # noqa: A002
        """Another maintainer acknowledges an approved proposal: the second of the two."""
        return self._act(id, Act.ACKNOWLEDGE, by)

    def refuse(self, id: str, by: str) -> Future[ProposalReply]:  # noqa: A002
        """A maintainer refuses a proposal that nobody has approved."""
        return self._act(id, Act.REFUSE, by)

    def apply(self, id: str, by: str) -> Future[ProposalReply]:  # noqa: A002
        """A maintainer puts an acknowledged proposal in force, at once: smaller limits evict now."""
        applied = self._act(id, Act.APPLY, by)
        applied.add_done_callback(self._note_retention)
        return applied

    def _note_retention(self, applied: Future[ProposalReply]) -> None:
        """Values may be as large as the policy in force says, before anybody learns that it is."""
        try:
            retention = applied.get().retention
        except DragomanError:
            return
        if retention is not None:
            self._largest_value = max(_MAX_SNAPSHOT_BYTES, retention.max_bytes)

    def _act(self, proposal_id: str, act: Act, by: str) -> Future[ProposalReply]:
        return self._ask(ActOnProposal(text_of("id", proposal_id), act, text_of("by", by)), self._crew.governor)

    def authority(self, by: str) -> Future[Authority]:
        """What `by` may do to the retention policy: anybody observes and proposes, a maintainer enacts (ADR-025)."""
        return self._answered(authority_of(text_of("by", by), self.settings.maintainers))

    def proposal(self, id: str) -> Future[Proposal | None]:  # noqa: A002
        """A proposal with its change, evidence and rollback, for those who decide; None if it is not known."""
        return self._ask(ReadProposal(text_of("id", id)), self._crew.governor)

    def proposals(self) -> Future[WordMapping[ProposalState]]:
        """The state of each proposal by its id; the oldest decided ones are forgotten when there are too many."""
        return self._ask(ReadProposals(), self._crew.governor)

    def retention_audit(self) -> Future[tuple[AuditEntry, ...]]:
        """Every change of the retention policy, oldest first, with before and after."""
        return self._ask(ReadAudit(), self._crew.governor)


def _as_dict(change: Any) -> Any:
    """A copy that nobody else changes; None, for the examination to refuse, where that cannot be had."""
    if not isinstance(change, Mapping):
        return change
    try:
        return dict(change)
    except Exception:
        return None


def _text(field: str, value: object) -> str:
    """A name that is kept with every record: text of a bounded length."""
    text = text_of(field, value)
    if len(text) > _MAX_NAME_CHARS:
        raise InvalidArgument(field, f"must be at most {_MAX_NAME_CHARS} characters, not {len(text)}")
    return text


def _exact_call(call: Call) -> Call:
    """The call with texts of the exact type; raises `InvalidArgument` where it is not valid."""
    if not isinstance(call, Call):
        raise InvalidArgument("call", "must be a Call")
    switch_of("call.keep", call.keep)
    return attrs.evolve(
        call,
        id=_text("call.id", call.id),
        role=_text("call.role", call.role),
        method=_text("call.method", call.method),
        depth=count_of("call.depth", call.depth),
        parent=None if call.parent is None else _text("call.parent", call.parent),
    )
