"""The execution part of the face: translations, direct calls, and what is known of them."""

from __future__ import annotations

import abc
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from .actors.futures import Future, check_timeout
from .actors.mailbox import Envelope
from .actors.outside import Begin, Outside
from .actors.running import in_handler
from .actors.simulation import SimulatedDispatcher
from .arguments import text_of
from .asking import AskingFace
from .gathering import Reading, gather
from .protocol.applied import AppliedKey, AppliedParent, FindApplied, ReadApplied
from .protocol.calls import CallTaker, Completion, Provider
from .protocol.completions import normalised
from .protocol.errors import BlockingInHandler, InvalidArgument
from .protocol.execution_messages import AnswerCall, ReadOutcome, TimeOut
from .protocol.failures import ProviderError, is_error_name
from .protocol.features import Feature
from .protocol.handoff import exact
from .protocol.messages import AnsweredAtFace
from .protocol.outcomes import ParentEvent, StartReply, TranslationOutcome
from .protocol.replies import CloseReply
from .protocol.runtime_statistics import RuntimeStatistics
from .protocol.settings import microseconds
from .protocol.statuses import StartStatus, Termination
from .protocol.translations import DirectRequest, Plan, TranslationRequest, plan_direct, plan_translation
from .translation import Translation

__all__ = ["ExecutingFace"]


class ExecutingFace(AskingFace):
    """What a runtime executes itself."""

    _invalid = 0
    _counting_invalid = threading.Lock()

    @abc.abstractmethod
    def cancel(self, request_id: str) -> Future[CloseReply]: ...

    def translate(
        self,
        request: TranslationRequest,
        *,
        provider: Provider | CallTaker | None = None,
        feature: Feature | None = None,
        progress: Callable[[ParentEvent], object] | None = None,
        history_until: str | None = None,
    ) -> Translation:
        """Execute a whole request (C3.3, C4): split, call, validate, recover, assemble, dispatch, acknowledge.

        `provider` makes the calls; without one they are answered by `respond` and `fail`. `feature` takes over the
        translated parents; without one the caller acknowledges them, with the texts of the outcome or of the events.
        `progress` is called with each event of a parent, on a thread of the runtime; it must return at once.
        `history_until` names a request of the session: the prompts hold turns of it and of the requests registered
        before it, and of no later one, however many have committed meanwhile. An id that the session does not know,
        such as the empty text, stands before the first request: no turn goes into the prompts. None is no limit.

        Awaiting it gives the `TranslationOutcome`; a provider's errors are in there and never raised. Its `started` is
        the answer to the start: `INVALID_HANDOFF` (with the reason), `DUPLICATE_REQUEST`, `OVERLOADED`, `STARTED`; any
        but the last is raised as `TranslationRefused`, and nothing was done. A request that takes no part in history is
        executed all the same.
        """
        if not isinstance(request, TranslationRequest):
            raise InvalidArgument("request", "must be a TranslationRequest")
        if isinstance(feature, type) or not isinstance(feature, Feature | None):
            raise InvalidArgument("feature", "must be an object that has a document and dispatch(parent, segments)")
        if history_until is not None:
            history_until = text_of("history_until", history_until)
        plan = plan_translation(request, self.settings, history_until)
        return self._begin(request, plan, provider, feature, progress)

    def direct(self, request: DirectRequest, *, provider: Provider | CallTaker | None = None) -> Translation:
        """One scalar call without the life of a parent (C4, C11): its candidate commits when its answer is accepted.

        An answer that had to be recovered is returned and makes no turn (C22). Otherwise as `translate`.
        """
        if not isinstance(request, DirectRequest):
            raise InvalidArgument("request", "must be a DirectRequest")
        return self._begin(request, plan_direct(request), provider, None, None)

    def _begin(
        self,
        request: TranslationRequest | DirectRequest,
        plan: Plan | str,
        provider: Provider | CallTaker | None,
        feature: Feature | None,
        progress: Callable[[ParentEvent], object] | None,
    ) -> Translation:
        if isinstance(provider, type) or not isinstance(provider, Provider | CallTaker | None):
            raise InvalidArgument("provider", "must be an object that has complete(call), or take(call)")
        if isinstance(provider, Provider) and isinstance(self._dispatcher, SimulatedDispatcher):
            raise InvalidArgument("provider", "must answer by message under virtual time: use a ScriptedProvider")
        if progress is not None and not callable(progress):
            raise InvalidArgument("progress", "must be callable")
        self._check_open()
        given: object = request.request_id
        request_id = exact(given) if isinstance(given, str) else str(given)
        translation = Translation(self._dispatcher, request_id, self.cancel)
        if isinstance(plan, str):
            self._count_invalid()
            verb = "direct" if isinstance(request, DirectRequest) else "translate"
            refused = StartReply(StartStatus.INVALID_HANDOFF, plan)
            self._answered(refused, AnsweredAtFace(verb, request_id), translation.started)
            return translation

        def tell(event: ParentEvent) -> None:
            translation.take(event)
            if progress is not None:
                progress(event)

        outside = Outside(
            provider=provider,
            feature=feature,
            by_hand=feature is None or bool(getattr(feature, "by_hand", False)),
            document=plan.handoff.request_id if feature is None else _document(feature),
            progress=None if plan.direct else tell,
            finished=Envelope(None, translation),
        )
        self._send(self._crew.coordinator, Begin(plan, outside), translation.started)
        return translation

    def respond(
        self,
        call: str,
        completion: Completion | None = None,
        *,
        translations: Mapping[str, str | Sequence[str]] | None = None,
        termination: Termination = Termination.NORMAL,
    ) -> Future[None]:
        """Answer a physical call, `REQUEST/N`, by a message: with a completion, or with what each unit became.

        `translations` maps units to texts, or to lists of segments that are joined with the markers which were sent;
        the body is made in the format of the call. A late answer changes nothing (C10); `UnknownCall` if the request
        never made that call.
        """
        if (completion is None) == (translations is None):
            raise InvalidArgument("completion", "give a completion, or translations")
        if completion is not None:
            completion = normalised(completion)
            if completion is None:
                raise InvalidArgument("completion", "must be a Completion of texts")
        pairs = None if translations is None else _pairs(translations)
        try:
            termination = Termination(termination)
        except ValueError:
            raise InvalidArgument("termination", f"must be one of {', '.join(Termination)}") from None
        return self._answer_call(call, completion=completion, translations=pairs, termination=termination)

    def fail(self, call: str, error: str, *, retry_after: float | None = None) -> Future[None]:
        """Answer a physical call by an error: one of the contract's names, or another one in capitals (C7).

        `retry_after`: seconds in which the provider does not want to be asked again, as `ProviderError` has it.
        """
        if not is_error_name(error):
            raise InvalidArgument("error", "must be an error name in capitals, such as NETWORK_ERROR")
        failure = ProviderError(exact(error), retry_after)
        wait_us = None if failure.retry_after is None else microseconds(failure.retry_after)
        return self._answer_call(call, error=failure.name, retry_after_us=wait_us)

    def _answer_call(self, call: str, **answer: Any) -> Future[None]:
        request_id, slash, number = call.rpartition("/") if isinstance(call, str) else ("", "", "")
        if not slash or not (number.isascii() and number.isdigit()) or len(number) > 12:
            raise InvalidArgument("call", "must be REQUEST/N")
        return self._ask(AnswerCall(request_id=exact(request_id), number=int(number), **answer))

    def time_out(self, request_id: str) -> Future[CloseReply]:
        """The execution timeout of a request elapses now (C8): `DISPOSED`, or `UNKNOWN_REQUEST` if nothing runs."""
        return self._ask(TimeOut(text_of("request_id", request_id)))

    def request_outcome(self, request_id: str) -> Future[TranslationOutcome | None]:
        """How an execution ended, without its texts; None while it runs, and for one that is not remembered."""
        return self._ask(ReadOutcome(text_of("request_id", request_id)))

    def statistics(self) -> Future[RuntimeStatistics]:
        """What the runtime has counted so far, and what it holds now: numbers, and no text (C13).

        The snapshot is also a mapping of provider names to their physical calls. Reading it uses nothing, and takes
        about a microsecond for each open handle.
        """
        self._check_open()
        return gather(self._dispatcher, self._crew, self._dispatcher.post, self._invalid)

    def read_statistics(self, timeout: float = 1.0) -> RuntimeStatistics:
        """The same within `timeout` seconds, for whoever reads it now and then and must not get stuck: exporters.

        The runtime's own threads do the work, and this one handles no message. Raises `WaitTimeout` if an actor does
        not answer in time, `RuntimeClosed` if the runtime is closed.
        """
        check_timeout(timeout)
        if in_handler():
            raise BlockingInHandler
        return self._begin_reading().get(timeout)

    def _begin_reading(self) -> Reading:
        """Ask for the statistics as `read_statistics` does, for an exporter that asks several runtimes at once."""
        self._check_open()
        future = gather(self._dispatcher, self._crew, self._dispatcher.leave, self._invalid)
        return Reading(self._dispatcher, future)

    def measure(self) -> None:
        """Time from now on how long handling a message takes, for a sample, and how long requests wait and are active.

        See `MailboxStatistics.handling_times` and `AcceptanceStatistics`. All else in the statistics is there anyway.
        It stays on until the runtime is closed; again is nothing.
        """
        self._check_open()
        self._dispatcher.measure()

    def _count_invalid(self) -> None:
        """A handoff was refused at the face: by any thread, and before any actor hears of it."""
        with self._counting_invalid:
            self._invalid += 1

    def feature_history(self, document: str | None = None) -> Future[tuple[AppliedParent, ...]]:
        """Every parent that a feature applied, in the order of application, from the durable history (C13).

        With a `document`, those of features of that name.
        """
        read = ReadApplied(None if document is None else text_of("document", document))
        return self._ask(read, self._crew.feature_history)

    def find_applied(self, key: AppliedKey) -> Future[AppliedParent | None]:
        """The newest entry of the durable feature history with that key; None if there is none."""
        if not isinstance(key, AppliedKey) or not all(isinstance(part, str) for part in attrs.astuple(key)):
            raise InvalidArgument("key", "must be an AppliedKey of texts")
        return self._ask(FindApplied(key), self._crew.feature_history)


def _pairs(translations: Mapping[str, str | Sequence[str]]) -> tuple[tuple[str, str | tuple[str, ...]], ...]:
    if not isinstance(translations, Mapping):
        raise InvalidArgument("translations", "must map units to texts")
    pairs = []
    for unit, text in translations.items():
        segments = (text,) if isinstance(text, str) else tuple(text) if isinstance(text, Sequence) else (None,)
        if not isinstance(unit, str) or not all(isinstance(segment, str) for segment in segments):
            raise InvalidArgument("translations", "must map units to a text or to a list of texts")
        pairs.append((exact(unit), exact(text) if isinstance(text, str) else tuple(map(exact, segments))))
    return tuple(pairs)


def _document(feature: Feature) -> str:
    document = feature.document
    if not isinstance(document, str) or not document:
        raise InvalidArgument("feature", "its document must be text that is not empty")
    return exact(document)
