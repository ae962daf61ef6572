"""The public face: one `Runtime` owns its actors and answers with futures."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType, TracebackType
from typing import Any

from .actors import interrupts
from .actors.dispatcher import Dispatcher, Note
from .actors.futures import Future
from .actors.gateway import GatewaySnapshot
from .actors.history_file import HistoryFile
from .actors.journal_file import JournalFile
from .actors.mailbox import STOP, Envelope, Mailbox
from .actors.reporting import report
from .actors.running import in_handler
from .actors.sessions import SessionSnapshot
from .actors.threads import ThreadDispatcher, abandon_with
from .arguments import count_of, count_or_none, switch_of, text_of
from .continuity import ContinuityFace
from .crew import Crew
from .executing import ExecutingFace
from .protocol.content_replies import StoreSnapshot
from .protocol.errors import BlockingInHandler, DragomanError, InvalidArgument, RuntimeClosed
from .protocol.handoff import Handoff, exact, exact_handoff, examine, in_source_order, is_plainly_valid
from .protocol.history import ChatMessage, Turn, chat_messages
from .protocol.messages import (
    Acknowledge,
    Activate,
    AnsweredAtFace,
    ClaimTurn,
    ClearSession,
    Close,
    Configure,
    FailCommits,
    Inspect,
    ReadHistory,
    ReadStatus,
    Register,
    Reject,
    ShutDown,
)
from .protocol.participation import ProviderPolicy
from .protocol.replies import (
    AckReply,
    ActivateReply,
    ClearReply,
    CloseReply,
    ConfigureReply,
    RegisterReply,
    RequestStatus,
)
from .protocol.settings import Settings
from .protocol.statuses import ClaimStatus, CloseCause, Purpose, RegisterStatus
from .reports import ShutdownReport, Snapshot

__all__ = ["Runtime"]

_PROVIDER = "openai"
_MODE = "select-element"
_PURPOSE = Purpose.PRIMARY_TRANSLATION

_SHARE_OF_REST = 0.8
"""The part of the time for closing in which the actors may come to rest; what is left is for the threads to end."""


class Runtime(ExecutingFace, ContinuityFace):
    """The conversation memory of one program (C1, C17).

    Every method answers with a future: `.get(timeout)` in a thread, `await` under asyncio. A wait that ends early
    changes nothing; the call goes on and may be repeated. The methods may be called from any thread, and several
    runtimes may live in one process. Use it as a context manager, or call `close`.

    `settings`: see `Settings`. `providers`: what is known of each provider by name; one that is not listed is of kind
    `ai`. `dispatcher`: who runs the actors; by default real threads in real time.

    A call after `close` raises `RuntimeClosed`; an argument of the wrong type raises `InvalidArgument`.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        providers: Mapping[str, ProviderPolicy] | None = None,
        dispatcher: Dispatcher | None = None,
    ) -> None:
        settings = Settings() if settings is None else settings
        if not isinstance(settings, Settings):
            raise InvalidArgument("settings", "must be a Settings")
        if not isinstance(providers, Mapping | None):
            raise InvalidArgument("providers", "must map names to ProviderPolicy")
        if not isinstance(dispatcher, Dispatcher | None):
            raise InvalidArgument("dispatcher", "must be a ThreadDispatcher or a SimulatedDispatcher")
        policies = MappingProxyType(dict(providers or {}))
        for name, policy in policies.items():
            if not isinstance(name, str) or not isinstance(policy, ProviderPolicy):
                raise InvalidArgument("providers", "must map names to ProviderPolicy")
        super().__init__(settings)
        self.settings = settings
        self._dispatcher = dispatcher or ThreadDispatcher()
        if settings.feature_history is not None and isinstance(self._dispatcher, ThreadDispatcher):
            HistoryFile.check(settings.feature_history)
        self._dispatcher.own()
        self._journal: JournalFile | None = None
        if settings.journal is not None:
            self._journal = JournalFile(settings, policies, self._dispatcher.now_us)
            self._dispatcher.journal = _both(self._dispatcher.journal, self._journal.note)
        self._crew = crew = self._crew_for(self._dispatcher, settings, policies)
        self._coordinator, self._sessions = crew.coordinator, crew.sessions
        self._closing = threading.Lock()
        self._closer: int | None = None
        self._report: ShutdownReport | None = None
        if isinstance(self._dispatcher, ThreadDispatcher):
            abandon_with(self, self._dispatcher, _nothing if self._journal is None else self._journal.close)

    def _crew_for(self, dispatcher: Dispatcher, settings: Settings, policies: Mapping[str, ProviderPolicy]) -> Crew:
        return Crew(dispatcher, settings, policies)

    def register(self, handoff: Handoff) -> Future[RegisterReply]:
        """Register a request before it is executed (C2, C3.3): its parents, their order and their clean source.

        Statuses, in the order of the checks: `INVALID_HANDOFF` (with the reason), `NOT_PARTICIPATING`,
        `DUPLICATE_REQUEST`, `OVERLOADED`, `REGISTERED`. Only the last creates anything.
        """
        if not isinstance(handoff, Handoff):
            raise InvalidArgument("handoff", "must be a Handoff")
        if is_plainly_valid(handoff):
            return self._ask(Register(handoff))
        handoff = exact_handoff(handoff)
        reason = examine(handoff)
        if reason is not None:
            self._check_open()
            self._count_invalid()
            named = handoff.request_id if isinstance(handoff.request_id, str) else ""
            refused = RegisterReply(RegisterStatus.INVALID_HANDOFF, reason)
            return self._answered(refused, AnsweredAtFace("register", named))
        return self._ask(Register(in_source_order(handoff)))

    def activate(self, request_id: str) -> Future[ActivateReply]:
        """Start the ACK window of a request whose results were dispatched (C4, C8); a second time changes nothing."""
        return self._ask(Activate(text_of("request_id", request_id)))

    def acknowledge(self, request_id: str, parent_id: str, result: str) -> Future[AckReply]:
        """Say that a parent was finally accepted with `result` (C3.3, C11).

        The reply names the parents of this request that became turns by it. Statuses: `ACCEPTED`; `STALE` (no open
        handle), `UNKNOWN_PARENT`, `INVALID_RESULT` (no clean text; may be corrected), `DUPLICATE`, `CONFLICT`, which
        change nothing.
        """
        if not type(request_id) is type(parent_id) is type(result) is str:
            request_id, parent_id = text_of("request_id", request_id), text_of("parent_id", parent_id)
            result = exact(result) if isinstance(result, str) else None
        if self._closed:
            raise RuntimeClosed
        fields = request_id, parent_id, result
        return self._dispatcher.ask_at_once(self._coordinator, fields) or self._ask(Acknowledge(*fields))

    def reject(self, request_id: str, parent_id: str) -> Future[AckReply]:
        """Say that a parent was not accepted (C3.3, C18): it makes no turn, and holds up nobody behind it."""
        fields = text_of("request_id", request_id), text_of("parent_id", parent_id)
        if self._closed:
            raise RuntimeClosed
        return self._dispatcher.ask_at_once(self._coordinator, fields) or self._ask(Reject(*fields))

    def cancel(self, request_id: str) -> Future[CloseReply]:
        """End a request as cancelled (C9): its execution, and its handle; what has committed stays.

        What is pending is discarded. `DISPOSED` if there was an execution or an open handle to end; an execution that
        is over keeps its outcome.
        """
        return self._ask(Close(text_of("request_id", request_id), CloseCause.CANCELLED))

    def dispatch_failed(self, request_id: str) -> Future[CloseReply]:
        """Close a request whose results could not be handed to the feature (C4)."""
        return self._ask(Close(text_of("request_id", request_id), CloseCause.DISPATCH_FAILED))

    def request_status(self, request_id: str) -> Future[RequestStatus]:
        """What became of a request, open or closed, as long as the ledger remembers it."""
        return self._ask(ReadStatus(text_of("request_id", request_id)))

    def history(
        self,
        session_id: str,
        *,
        provider: str = _PROVIDER,
        mode: str = _MODE,
        purpose: str = _PURPOSE,
        max_turns: int = 10,
        max_chars: int | None = None,
    ) -> Future[tuple[Turn, ...]]:
        """The newest `max_turns` committed turns, oldest first, each side within `max_chars` characters (C2, C3).

        Empty for a call that does not take part. A participating read is a use of the session.
        """
        return self._ask(_read(session_id, provider, mode, purpose, max_turns, max_chars))

    def messages(
        self,
        session_id: str,
        *,
        system: str | None = None,
        user: str | None = None,
        provider: str = _PROVIDER,
        mode: str = _MODE,
        purpose: str = _PURPOSE,
        max_turns: int = 10,
        max_chars: int | None = None,
    ) -> Future[tuple[ChatMessage, ...]]:
        """A chat prompt: `system`, the projected history as user and assistant messages, and `user` (C2 "HistoryRead").

        For a call that does not take part, the prompt does not depend on the history in any way.
        """
        for name, text in (("system", system), ("user", user)):
            if text is not None:
                text_of(name, text)
        prompt: Future[tuple[ChatMessage, ...]] = Future(self._dispatcher)

        def give(turns: Future[tuple[Turn, ...]]) -> None:
            try:
                prompt.settle(chat_messages(turns.get(), system, user), None)
            except Exception as error:
                prompt.settle(None, error)

        self._ask(_read(session_id, provider, mode, purpose, max_turns, max_chars)).add_done_callback(give)
        return prompt

    def claim_turn(
        self, session_id: str, *, provider: str = _PROVIDER, mode: str = _MODE, purpose: str = _PURPOSE
    ) -> Future[int | ClaimStatus]:
        """The next operational sequence number of the session, from 1 (C16): bookkeeping, no identity, no order.

        1 without effect for a call that does not take part; `ClaimStatus.OVERLOADED` without room for a new session.
        """
        return self._ask(ClaimTurn(*_identity(session_id, provider, mode, purpose)))

    def clear_session(self, session_id: str) -> Future[ClearReply]:
        """Close the open requests of a session, then forget it (C16): what was dropped does not come back."""
        return self._ask(ClearSession(text_of("session_id", session_id)))

    def configure(self, *, history_enabled: bool) -> Future[ConfigureReply]:
        """Set the user's history switch (C3) for requests, reads and claims that begin from now on."""
        return self._ask(Configure(switch_of("history_enabled", history_enabled)))

    def fail_commits(self, session_id: str, times: int = 1) -> Future[None]:
        """Fault injection, for tests: the next `times` turns to be committed into the session fail."""
        return self._ask(FailCommits(text_of("session_id", session_id), count_of("times", times)))

    def snapshot(self, timeout: float | None = None) -> Snapshot:
        """All that the runtime holds now, waiting up to `timeout` seconds for its actors; for tests and tools."""
        self._check_open()
        requests: Future[tuple[str, ...]] = self._send(self._coordinator, Inspect())
        sessions: Future[tuple[SessionSnapshot, ...]] = self._send(self._sessions, Inspect())
        running: Future[tuple[str, ...]] = self._send(self._crew.service, Inspect())
        calls: Future[GatewaySnapshot] = self._send(self._crew.gateway, Inspect())
        store: Future[StoreSnapshot] = self._send(self._crew.store, Inspect())
        return Snapshot(
            open_requests=requests.get(timeout),
            sessions=sessions.get(timeout),
            running=running.get(timeout),
            open_calls=calls.get(timeout).open_calls,
            provider_tasks=calls.get(timeout).tasks,
            store=store.get(timeout),
            counts=self._dispatcher.counts(),
            dead_letters=tuple(sorted(self._dispatcher.dead_letters().items())),
            live_timers=self._dispatcher.live_timers(),
        )

    @property
    def dispatcher(self) -> Dispatcher:
        """Who runs the actors."""
        return self._dispatcher

    @property
    def closed(self) -> bool:
        return self._closed

    def close(self, timeout: float = 5.0) -> ShutdownReport:
        """End the runtime within `timeout` seconds, whatever its actors do; what was left is in the report.

        Calls from now on raise `RuntimeClosed`. What was sent before is handled, open handles close as `SHUT_DOWN`,
        every future is answered, the threads end. Idempotent: a second call gives the same report.
        """
        if not isinstance(timeout, int | float) or not timeout >= 0:
            raise InvalidArgument("timeout", "must be a number of seconds of at least 0")
        if in_handler() or self._crew.loop.inside or self._closer == threading.get_ident():
            raise BlockingInHandler
        with self._closing:
            if self._report is None:
                self._closed = True
                self._closer = threading.get_ident()
                try:
                    self._report = self._shut_down(timeout)
                finally:
                    self._closer = None
        interrupts.raise_pending()
        return self._report

    def _shut_down(self, timeout: float) -> ShutdownReport:
        now = time.monotonic()
        rest_deadline, deadline = now + timeout * _SHARE_OF_REST, now + timeout
        closed, at_rest = 0, False
        self._dispatcher.note("close")
        try:
            closed = self._answer_by(rest_deadline, self._coordinator, ShutDown())
            for mailbox in self._crew.in_order_of_stopping:
                self._answer_by(rest_deadline, mailbox, STOP)
            at_rest = True
        except DragomanError as error:
            report("ERROR", "the runtime did not come to rest: {error_type}", error_type=type(error).__name__)
        threads = self._dispatcher.stop(max(0.0, deadline - time.monotonic()))
        threads += self._crew.loop.stop(max(0.0, deadline - time.monotonic()))
        left = self._dispatcher.retire_all()
        if self._journal is not None and not self._journal.close(max(0.0, deadline - time.monotonic())):
            threads += ("dragoman-journal",)
        return ShutdownReport(
            at_rest=at_rest,
            handles_closed=closed,
            messages_left=left,
            threads_left=threads,
            counts=self._dispatcher.counts(),
        )

    def _answer_by(self, deadline: float, mailbox: Mailbox, message: object) -> Any:
        """An answer of an actor, given by other threads: this one must not get stuck in a handler."""
        future: Future[Any] = Future(self._dispatcher)
        self._dispatcher.leave(mailbox, Envelope(message, future))
        self._dispatcher.wait(future, max(0.0, deadline - time.monotonic()), helping=False)
        return future.get(0)

    async def aclose(self, timeout: float = 5.0) -> ShutdownReport:
        """`close` for asyncio: the event loop goes on meanwhile."""
        return await asyncio.get_running_loop().run_in_executor(None, self.close, timeout)

    def __enter__(self) -> Runtime:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Runtime:
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<Runtime {'closed' if self._closed else 'open'}>"


def _both(one: Callable[[Note], object] | None, other: Callable[[Note], object]) -> Callable[[Note], object]:
    """Enter notes where somebody keeps them already, and in the file."""
    if one is None:
        return other
    return lambda note: (one(note), other(note))


def _nothing() -> None:
    """What is left to do for a forgotten runtime that keeps no journal."""


def _identity(session_id: str, provider: str, mode: str, purpose: str) -> tuple[str, str, str, str]:
    return (
        text_of("session_id", session_id),
        text_of("provider", provider),
        text_of("mode", mode),
        text_of("purpose", purpose),
    )


def _read(
    session_id: str, provider: str, mode: str, purpose: str, max_turns: int, max_chars: int | None
) -> ReadHistory:
    max_turns = count_of("max_turns", max_turns)
    max_chars = count_or_none("max_chars", max_chars)
    return ReadHistory(*_identity(session_id, provider, mode, purpose), max_turns, max_chars)
