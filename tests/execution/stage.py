"""What stands around a runtime in the walks: a scripted provider, and the application with its documents."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import attrs

from dragoman import Future, Runtime, ScriptedProvider, TextDocument, TranslationRequest
from dragoman.actors.actor import Actor, handles
from dragoman.actors.mailbox import Envelope

__all__ = ["Stage"]


@attrs.frozen
class _Change:
    make: Callable[[], object]


class _Application(Actor):
    """Does what it is told to its documents, so that this has its place among the steps."""

    in_registry = False

    @handles(_Change)
    def _change(self, message: _Change, _envelope: Envelope[Any]) -> object:
        return message.make()


class Stage:
    """A runtime with its surroundings."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.provider = ScriptedProvider()
        self._documents: dict[str, TextDocument] = {}
        self._undeliverable: set[str] = set()
        self._application = _Application(runtime.dispatcher)
        self._application.spawn()

    def translate(self, request: TranslationRequest, *, refuse: Collection[str], by_hand: bool) -> Future[Any]:
        """Start a translation whose feature is a document of texts."""
        sources: Any = request.parents
        document = TextDocument(dict(sources), refuse=refuse, by_hand=by_hand)

        def show(started: Future[Any]) -> None:
            if started.get().status == "STARTED":
                if request.request_id in self._undeliverable:
                    document.close()
                self._documents[request.request_id] = document

        started = self.runtime.translate(request, provider=self.provider, feature=document).started
        started.add_done_callback(show)
        return started

    def ack(self, request: str, parent: str, result: str) -> Future[Any]:
        """An ACK by hand: a document that is accepted by hand shows it from then on."""

        def show(answered: Future[Any]) -> None:
            document = self._documents.get(request)
            if document is not None and document.by_hand and answered.get().status == "ACCEPTED":
                document.accept(parent, result)

        answered = self.runtime.acknowledge(request, parent, result)
        answered.add_done_callback(show)
        return answered

    def edit(self, request: str, parent: str, text: str) -> Future[Any]:
        """The application changes its copy of a parent; the answer says whether there is one."""

        def change() -> str:
            document = self._documents.get(request)
            if document is None or parent not in document.texts():
                return "nothing to edit"
            document.edit(parent, text)
            return "edited"

        return self._post(change)

    def fail_dispatch(self, request: str) -> Future[Any]:
        def close() -> None:
            self._undeliverable.add(request)
            if request in self._documents:
                self._documents[request].close()

        return self._post(close)

    def document(self, request: str) -> dict[str, Any]:
        return self._documents[request].texts() if request in self._documents else {}

    def _post(self, change: Callable[[], object]) -> Future[Any]:
        future: Future[Any] = Future(self.runtime.dispatcher)
        self.runtime.dispatcher.post(self._application.mailbox, Envelope(_Change(change), future))
        return future
