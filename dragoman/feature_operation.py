"""A feature operation: whole documents translated as requests of one session, several at a time (C2, C15).

Rules. The parents of each document, in source order, are cut into groups, and the groups of all documents are numbered
on. Group k begins when those up to k − N have closed, N being the concurrency, and its prompts hold turns of these and
of no later one: neither timing nor an interruption changes a prompt. What the durable feature history has of an earlier
run is put into the documents and, in its place among the groups, into the conversation; only the rest goes to the
provider.

Not promised: the same groups once a document was edited.
"""

from __future__ import annotations

import asyncio
import itertools
import time
import weakref
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import attrs

from .actors.futures import Future
from .arguments import count_of, switch_of, text_of
from .operation_report import DocumentReport, KeptSource, OperationProgress, OperationReport
from .operation_settings import turns_needed
from .protocol.calls import Completion, Provider, ProviderCall
from .protocol.errors import InvalidArgument, TranslationRefused
from .protocol.failures import USER_CANCELLED
from .protocol.features import Feature
from .protocol.handoff import Handoff, Parent
from .protocol.markers import contains_marker
from .protocol.outcomes import DiagnosticCode, ParentEvent, ParentEventKind, TranslationOutcome
from .protocol.replies import RegisterReply
from .protocol.statuses import Purpose, RegisterStatus
from .protocol.translations import TranslationRequest
from .resuming import Resumed, resume
from .runtime import Runtime
from .translation import Translation

__all__ = ["FeatureOperation", "TranslatableDocument"]

_MODE = "select-element"
_HOPELESS = frozenset({"API_KEY_INVALID", "COMMAND_FAILED", "INSUFFICIENT_BALANCE", "VALIDATION"})
"""Errors that the next request will meet too, if the first ones all do."""

_operations: weakref.WeakKeyDictionary[Runtime, Counter[str]] = weakref.WeakKeyDictionary()


@runtime_checkable
class TranslatableDocument(Feature, Protocol):
    """A feature that knows its parents: each by its id, as a text or as its segments, in source order."""

    @property
    def parents(self) -> Mapping[str, str | tuple[str, ...]]: ...


@attrs.frozen
class _Part:
    """Parents of one group, in a row, that are all to be translated, or all were in an earlier run."""

    request_id: str
    place: int
    parent_ids: tuple[str, ...]
    resumed: bool


class FeatureOperation:
    """Translates `documents` by `provider`, in the session `session_id`; see the module for its rules.

    `provider_name` is the provider as `Runtime(providers=…)` knows it. `group_parents` is the parents of a request,
    `concurrency` the requests in flight. `resume` takes accepted parents of earlier runs from the durable feature
    history of the runtime; they are recorded there in any case, if it has one. `progress` is told of every change, and
    `finished` of each document that has come to its end, both in the event loop that runs the operation.

    Raises `InvalidArgument` if the session would keep too few turns (`Settings(max_turns=…)`) for prompts that do not
    depend on timing; `operation_settings` makes settings that fit.
    """

    def __init__(
        self,
        runtime: Runtime,
        documents: Sequence[TranslatableDocument],
        *,
        session_id: str,
        target_language: str,
        provider: Provider,
        source_language: str = "en",
        provider_name: str = "openai",
        concurrency: int = 4,
        group_parents: int = 5,
        resume: bool = True,
        progress: Callable[[OperationProgress], object] | None = None,
        finished: Callable[[TranslatableDocument, DocumentReport], object] | None = None,
    ) -> None:
        for name, count in (("concurrency", concurrency), ("group_parents", group_parents)):
            if count_of(name, count) < 1:
                raise InvalidArgument(name, "must be at least 1")
        if not isinstance(provider, Provider) or isinstance(provider, type):
            raise InvalidArgument("provider", "must be an object that has complete(call)")
        documents = tuple(documents)
        if not all(isinstance(document, TranslatableDocument) for document in documents):
            raise InvalidArgument("documents", "must have a document, parents, and dispatch(parent, segments)")
        if len({document.document for document in documents}) < len(documents):
            raise InvalidArgument("documents", "must have different names")
        settings = runtime.settings
        needed = turns_needed(concurrency, group_parents, settings.prompt_turns)
        if settings.prompt_turns and settings.max_turns < needed:
            raise InvalidArgument("concurrency", f"needs Settings(max_turns={needed}) or more, for the same prompts")
        self._runtime = runtime
        self._documents = documents
        self._session_id = text_of("session_id", session_id)
        self._languages = text_of("source_language", source_language), text_of("target_language", target_language)
        self._provider = _Counting(provider, self._note_retry)
        self._provider_name = text_of("provider_name", provider_name)
        self._concurrency = concurrency
        self._group_parents = group_parents
        self._resume = switch_of("resume", resume)
        self._progress = progress
        self._finished = finished
        self._parents = [_as_segments(document.parents) for document in documents]
        self._resumed: list[dict[str, Resumed]] = [{} for _ in documents]
        self._accepted: list[set[str]] = [set() for _ in documents]
        self._kept: list[dict[str, str]] = [{} for _ in documents]
        self._open_groups = [0 for _ in documents]
        self._loop: asyncio.AbstractEventLoop | None = None
        self._running: dict[str, Translation] = {}
        self._known: set[str] = set()
        self._to_translate = 0
        self._outcomes: list[TranslationOutcome] = []
        self._retried = 0
        self._stopped = False
        self._gave_up: str | None = None

    async def run(self) -> OperationReport:
        """Translate everything; the report. To be run once. If its task is cancelled, all its requests are."""
        began = time.monotonic()
        self._loop = asyncio.get_running_loop()
        await self._take_over()
        groups = self._groups()
        for group in groups:
            self._open_groups[group[0].place] += 1
            self._to_translate += sum(not part.resumed for part in group)
        for place, left in enumerate(self._open_groups):
            if not left:
                self._end_document(place)
        tasks: list[asyncio.Task[None]] = []
        try:
            for number, group in enumerate(groups):
                before = number - self._concurrency
                if before >= 0:
                    await _end_of(tasks[before])
                if self._ending:
                    break
                ends = self._send(group, self._until(groups, before))
                tasks.append(asyncio.ensure_future(self._close(group, ends)))
            for task in tasks:
                await _end_of(task)
        except BaseException:
            self.stop()
            if tasks:
                await asyncio.wait(tasks)
            raise
        for place, left in enumerate(self._open_groups):
            if left:
                self._end_document(place)
        return self._report(time.monotonic() - began)

    def stop(self) -> None:
        """End it early, from its own event loop: what runs is cancelled (C9), what was accepted stays."""
        self._stopped = True
        self._cancel_all()

    @property
    def _ending(self) -> bool:
        return self._stopped or self._gave_up is not None

    def _cancel_all(self) -> None:
        for request_id in tuple(self._running):
            self._runtime.cancel(request_id)

    async def _take_over(self) -> None:
        """Put into the documents what an earlier run has paid for."""
        for place, document in enumerate(self._documents if self._resume else ()):
            entries = await self._runtime.feature_history(document.document)
            resumed = resume(
                document, self._parents[place], entries, languages=self._languages, provider=self._provider_name
            )
            self._resumed[place] = resumed
            self._accepted[place].update(resumed)
        self._tell()

    def _groups(self) -> list[tuple[_Part, ...]]:
        counter = _operations.setdefault(self._runtime, Counter())
        counter[self._session_id] += 1
        prefix = f"{self._session_id}/{counter[self._session_id]}"
        groups: list[tuple[_Part, ...]] = []
        for place, parents in enumerate(self._parents):
            ids = tuple(parents)
            for start in range(0, len(ids), self._group_parents):
                group = ids[start : start + self._group_parents]
                groups.append(tuple(self._parts(f"{prefix}/{len(groups) + 1}", place, group)))
        return groups

    def _parts(self, name: str, place: int, parent_ids: tuple[str, ...]) -> Iterator[_Part]:
        runs = itertools.groupby(parent_ids, key=self._resumed[place].__contains__)
        for number, (resumed, run) in enumerate(runs, 1):
            yield _Part(f"{name}.{number}", place, tuple(run), resumed)

    def _until(self, groups: Sequence[tuple[_Part, ...]], place: int) -> str:
        """The newest request up to that group that the session knows; none before the first."""
        for before in range(place, -1, -1):
            for part in reversed(groups[before]):
                if part.request_id in self._known:
                    return part.request_id
        return ""

    def _send(self, group: tuple[_Part, ...], until: str) -> list[Coroutine[Any, Any, None]]:
        """Send the requests of a group, in source order; what is still to be done for each."""
        return [self._remember(part) if part.resumed else self._begin(part, until) for part in group]

    async def _close(self, group: tuple[_Part, ...], ends: list[Coroutine[Any, Any, None]]) -> None:
        """A group ends when its requests have."""
        await asyncio.gather(*ends)
        place = group[0].place
        self._open_groups[place] -= 1
        if not self._open_groups[place]:
            self._end_document(place)

    def _remember(self, part: _Part) -> Coroutine[Any, Any, None]:
        """Commit parents again that were accepted in an earlier run, so that the context is there."""
        resumed = self._resumed[part.place]
        # What looks like a marker can be translated, and not be registered by hand.
        ids = [parent_id for parent_id in part.parent_ids if not contains_marker(resumed[parent_id].source)]
        parents = tuple(Parent(parent_id, order, resumed[parent_id].source) for order, parent_id in enumerate(ids))
        handoff = Handoff(part.request_id, self._session_id, self._provider_name, _MODE, parents)
        return self._acknowledge(part, ids, self._runtime.register(handoff))

    async def _acknowledge(self, part: _Part, ids: list[str], registered: Future[RegisterReply]) -> None:
        if (await registered).status is not RegisterStatus.REGISTERED:
            return
        self._known.add(part.request_id)
        resumed = self._resumed[part.place]
        acks = [self._runtime.acknowledge(part.request_id, parent, resumed[parent].translated) for parent in ids]
        for ack in acks:
            await ack

    def _begin(self, part: _Part, until: str) -> Coroutine[Any, Any, None]:
        source_language, target_language = self._languages
        parents = self._parents[part.place]
        request = TranslationRequest(
            part.request_id,
            self._session_id,
            {parent_id: parents[parent_id] for parent_id in part.parent_ids},
            target_language,
            source_language=source_language,
            provider=self._provider_name,
            mode=_MODE,
        )
        events: list[ParentEvent] = []
        translation = self._runtime.translate(
            request,
            provider=self._provider,
            feature=self._documents[part.place],
            progress=events.append,
            history_until=until,
        )
        self._running[part.request_id] = translation
        return self._follow(part, translation, events)

    async def _follow(self, part: _Part, translation: Translation, events: list[ParentEvent]) -> None:
        try:
            outcome = await translation
        except TranslationRefused as refusal:
            self._settle(part, events, refusal.status)
        else:
            self._known.add(part.request_id)
            self._outcomes.append(outcome)
            self._settle(part, events, outcome.error or "NOT_ACCEPTED")
            self._judge()
        finally:
            del self._running[part.request_id]

    def _settle(self, part: _Part, events: list[ParentEvent], otherwise: str) -> None:
        """Every parent of a request that is over was accepted, or keeps its source for a reason."""
        reasons: dict[str, str | None] = dict.fromkeys(part.parent_ids)
        for event in events:
            if event.kind is ParentEventKind.ACCEPTED:
                self._accepted[part.place].add(event.parent_id)
            elif event.reason is not None:
                reasons[event.parent_id] = event.reason
        for parent_id, reason in reasons.items():
            if parent_id not in self._accepted[part.place]:
                self._kept[part.place][parent_id] = reason or otherwise
        self._tell()

    def _judge(self) -> None:
        """Whether it makes no sense to go on: the first requests have all met what every other will meet."""
        if len(self._outcomes) != min(self._concurrency, self._to_translate):
            return
        error = self._outcomes[0].error
        if error in _HOPELESS and all(outcome.error == error for outcome in self._outcomes):
            self._gave_up = error
            self._cancel_all()

    def _note_retry(self) -> None:
        """Called on the event loop of the provider."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._retry_noted)

    def _retry_noted(self) -> None:
        self._retried += 1
        self._tell()

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(
                OperationProgress(
                    parents=sum(map(len, self._parents)),
                    accepted=sum(map(len, self._accepted)),
                    resumed=sum(map(len, self._resumed)),
                    failed=sum(map(len, self._kept)),
                    retried=self._retried,
                )
            )

    def _end_document(self, place: int) -> None:
        """Nothing more will happen to a document: what was never asked for keeps its source as well."""
        for parent_id in self._parents[place]:
            if parent_id not in self._accepted[place]:
                self._kept[place].setdefault(parent_id, self._gave_up or USER_CANCELLED)
        if self._finished is not None:
            self._finished(self._documents[place], self._document_report(place))

    def _document_report(self, place: int) -> DocumentReport:
        kept = self._kept[place]
        return DocumentReport(
            document=self._documents[place].document,
            parents=len(self._parents[place]),
            accepted=len(self._accepted[place]),
            resumed=len(self._resumed[place]),
            kept=tuple(KeptSource(parent, kept[parent]) for parent in self._parents[place] if parent in kept),
        )

    def _report(self, seconds: float) -> OperationReport:
        outcomes = self._outcomes
        completions = [completion for outcome in outcomes for completion in outcome.completions]
        failed = DiagnosticCode.FEATURE_HISTORY_FAILED
        return OperationReport(
            documents=tuple(map(self._document_report, range(len(self._documents)))),
            calls=sum(outcome.calls for outcome in outcomes),
            retries=sum(outcome.retries for outcome in outcomes),
            input_tokens=_total(completion.input_tokens for completion in completions),
            output_tokens=_total(completion.output_tokens for completion in completions),
            seconds=seconds,
            interrupted=self._stopped,
            gave_up=self._gave_up,
            unrecorded=sum(any(found.code is failed for found in outcome.diagnostics) for outcome in outcomes),
        )

    def __repr__(self) -> str:
        return f"<FeatureOperation of {len(self._documents)} documents>"


class _Counting:
    """A provider that tells of each retry as it begins."""

    def __init__(self, provider: Provider, retried: Callable[[], object]) -> None:
        self._provider = provider
        self._retried = retried

    async def complete(self, call: ProviderCall) -> Completion:
        if call.attempt > 1 and call.purpose != Purpose.STRUCTURED_RECOVERY:
            self._retried()
        return await self._provider.complete(call)


async def _end_of(task: asyncio.Task[None]) -> None:
    """Wait for a task, without cancelling it if the waiting is; raises what it raised."""
    await asyncio.wait([task])
    task.result()


def _as_segments(parents: Mapping[str, str | tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {parent_id: (source,) if isinstance(source, str) else tuple(source) for parent_id, source in parents.items()}


def _total(counts: Iterable[int | None]) -> int | None:
    told = [count for count in counts if count is not None]
    return sum(told) if told else None
