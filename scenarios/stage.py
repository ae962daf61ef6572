"""What stands around a runtime in a scenario: the provider that is scripted, and the application with its documents."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import attrs

from ..actors.actor import DEFERRED, Actor, handles
from ..actors.answering import refuse
from ..actors.dispatcher import Dispatcher
from ..actors.futures import Future
from ..actors.mailbox import Envelope
from ..protocol.calls import ProviderCall
from ..protocol.errors import DragomanError, InvalidArgument, UnknownCall
from ..protocol.features import DispatchFailed
from ..protocol.outcomes import ParentEvent, ParentEventKind, StartReply, TranslationOutcome
from ..protocol.redaction import redacted
from ..protocol.replies import AckReply
from ..protocol.statuses import AckStatus, StartStatus
from ..protocol.translations import DirectRequest, TranslationRequest
from ..runtime import Runtime
from ..scripted import ScriptedProvider
from ..text import TextDocument
from ..translation import Translation

__all__ = ["Stage"]


def _document(request: str) -> str:
    """The name of a place that several actors visit: the document of a request."""
    return f"document {request}"


def _calls(request: str) -> str:
    """The same for its calls and its outcome."""
    return f"calls {request}"


@attrs.frozen
class _EditSource:
    request: str
    parent: str
    text: str | tuple[str, ...] = attrs.field(repr=redacted)


@attrs.frozen
class _FailDispatch:
    request: str


class _Provider(ScriptedProvider):
    """The scripted provider, whose calls others look at."""

    def __init__(self, touch: Callable[[str], object]) -> None:
        super().__init__()
        self._touch = touch

    def take(self, call: ProviderCall) -> None:
        self._touch(_calls(call.request_id))
        super().take(call)


class _Document(TextDocument):
    """A document that leaves some of its parents to later steps, and cannot take others."""

    left: frozenset[str] = frozenset()
    undeliverable: frozenset[str] = frozenset()

    def dispatch(self, parent_id: str, segments: tuple[str, ...]) -> Any:
        if parent_id in self.undeliverable:
            raise DispatchFailed
        replacements = super().dispatch(parent_id, segments)
        return None if parent_id in self.left else replacements


class _Application(Actor):
    """The application as an actor, so that what it does to its documents has its place among the steps."""

    in_registry = False

    def __init__(self, dispatcher: Dispatcher, touch: Callable[[str], object]) -> None:
        super().__init__(dispatcher)
        self._touch = touch
        self.documents: dict[str, _Document] = {}
        self.undeliverable: set[str] = set()

    @handles(_EditSource)
    def _edit(self, message: _EditSource, envelope: Envelope[Any]) -> Any:
        self._touch(_document(message.request))
        document = self.documents.get(message.request)
        if document is None or message.parent not in document.texts():
            refuse(envelope, InvalidArgument("request", "no such parent has been translated here"))
            return DEFERRED
        document.edit(message.parent, message.text)
        return None

    @handles(_FailDispatch)
    def _fail_dispatch(self, message: _FailDispatch, _envelope: Envelope[Any]) -> None:
        self._touch(_document(message.request))
        self.undeliverable.add(message.request)
        if message.request in self.documents:
            self.documents[message.request].close()


class Stage:
    """A runtime with its surroundings.

    `accepted` holds what features accepted: the verb that began the translation, the parent, the clean text. `outcomes`
    keeps how the executions of each request id ended, longer than the runtime does; None for one that runs.

    Several actors come here through their callbacks. `touch` is told of each such visit, by the name of its place.
    """

    def __init__(self, runtime: Runtime, touch: Callable[[str], object] | None = None) -> None:
        self.runtime = runtime
        self._touch = touch or (lambda _place: None)
        self._providers: list[ScriptedProvider] = []
        self._provider_of: dict[str, ScriptedProvider] = {}
        self.accepted: list[tuple[object, str, str]] = []
        self.outcomes: dict[str, TranslationOutcome | None] = {}
        self._application = _Application(runtime.dispatcher, self._touch)
        self._application.spawn()

    def translate(
        self,
        verb: object,
        request: TranslationRequest,
        *,
        refuse_parents: Collection[str],
        left_parents: Collection[str],
        undeliverable_parents: Collection[str],
        by_hand: bool,
        history_until: str | None,
    ) -> Future[StartReply]:
        """Start a translation whose feature is a document of texts."""
        document = _Document(
            _sources(request), document=request.request_id or "-", refuse=refuse_parents, by_hand=by_hand
        )
        document.left, document.undeliverable = frozenset(left_parents), frozenset(undeliverable_parents)
        segments: dict[str, str] = {}

        def progress(event: ParentEvent) -> None:
            self._touch(_document(request.request_id))
            if event.kind is ParentEventKind.DISPATCHED:
                segments[event.parent_id] = "".join(event.segments)
            elif event.kind is ParentEventKind.ACCEPTED:
                self.accepted.append((verb, event.parent_id, segments[event.parent_id]))

        def show(started: Future[StartReply]) -> None:
            self._touch(_document(request.request_id))
            if started.get().status is StartStatus.STARTED:
                if request.request_id in self._application.undeliverable:
                    document.close()
                self._application.documents[request.request_id] = document

        provider = _Provider(self._touch)
        translation = self.runtime.translate(
            request, provider=provider, feature=document, progress=progress, history_until=history_until
        )
        translation.started.add_done_callback(show)
        return self._followed(translation, provider)

    def direct(self, request: DirectRequest) -> Future[StartReply]:
        """Start a direct call."""
        provider = _Provider(self._touch)
        return self._followed(self.runtime.direct(request, provider=provider), provider)

    def _followed(self, translation: Translation, provider: ScriptedProvider) -> Future[StartReply]:
        def begin(started: Future[StartReply]) -> None:
            self._touch(_calls(translation.request_id))
            if started.get().status is StartStatus.STARTED:
                self._providers.append(provider)
                self._provider_of[translation.request_id] = provider
                self.outcomes[translation.request_id] = None
                translation.add_done_callback(end)

        def end(_translation: object) -> None:
            self._touch(_calls(translation.request_id))
            self.outcomes[translation.request_id] = translation.get()

        translation.started.add_done_callback(begin)
        return translation.started

    def calls(self, request: str) -> list[ProviderCall]:
        """The calls of the newest request of that id, in the order in which they were made."""
        provider = self._provider_of.get(request)
        return [] if provider is None else provider.calls

    def _was_made(self, call: str) -> bool:
        """Whether a call was ever made, whatever the runtime still remembers."""
        return any(made.id == call for provider in self._providers for made in provider.calls)

    def answer(self, call: str, answered: Future[None]) -> Future[None]:
        """The answer to an answer: late ones are legal, also to a request that the runtime has forgotten."""
        reply: Future[None] = Future(self.runtime.dispatcher)

        def settle(_answered: object) -> None:
            try:
                reply.settle(answered.get(), None)
            except UnknownCall as error:
                self._touch(_calls(call.rpartition("/")[0]))
                reply.settle(None, None if self._was_made(call) else error)
            except DragomanError as error:
                reply.settle(None, error)

        answered.add_done_callback(settle)
        return reply

    def acknowledge(self, request: str, parent: str, result: Any) -> Future[AckReply]:
        """An ACK by hand: where the application accepts by hand, its document shows the result once it is accepted."""

        def show(answered: Future[AckReply]) -> None:
            self._touch(_document(request))
            document = self._application.documents.get(request)
            by_hand = document is not None and (document.by_hand or parent in document.left)
            if document is not None and by_hand and answered.get().status is AckStatus.ACCEPTED:
                document.accept(parent, result)

        future = self.runtime.acknowledge(request, parent, result)
        future.add_done_callback(show)
        return future

    def edit_source(self, request: str, parent: str, text: str | tuple[str, ...]) -> Future[None]:
        return self._post(_EditSource(request, parent, text))

    def fail_dispatch(self, request: str) -> Future[None]:
        return self._post(_FailDispatch(request))

    def document(self, request: str) -> Mapping[str, object]:
        """What the feature of a request shows now; nothing for one that was never started."""
        document = self._application.documents.get(request)
        return {} if document is None else document.texts()

    def _post(self, message: object) -> Future[None]:
        future: Future[None] = Future(self.runtime.dispatcher)
        self.runtime.dispatcher.post(self._application.mailbox, Envelope(message, future))
        return future


def _sources(request: TranslationRequest) -> dict[str, Any]:
    """The sources of a request as far as they are texts; the runtime refuses the rest."""
    pairs: Any = request.parents
    return {
        parent: source
        for parent, source in (pairs if isinstance(pairs, tuple) else ())
        if isinstance(source, str) or (isinstance(source, tuple) and all(isinstance(one, str) for one in source))
    }
