"""What a provider asks for when it wants nobody to ask again, and what its failures and refusals say (C7, C12)."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from dragoman import (
    Completion,
    InvalidArgument,
    ParentEvent,
    ParentRefused,
    ProviderCall,
    ProviderError,
    Runtime,
    ScriptedProvider,
    Settings,
    SimulatedDispatcher,
    TextDocument,
    Translation,
    TranslationRequest,
)
from dragoman.actors import session_map
from dragoman.protocol.batches import BatchRun, Retry
from dragoman.protocol.history import Turn, TurnRun
from dragoman.protocol.participation import ProviderPolicy
from dragoman.protocol.units import plan_parent


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with Runtime(Settings(batch_units=1), dispatcher=SimulatedDispatcher()) as made:
        yield made


def begin(runtime: Runtime, feature: Any = None, **options: Any) -> Translation:
    request = TranslationRequest("r1", "s1", {"p1": "one", "p2": "two"}, "de")
    running = runtime.translate(request, provider=ScriptedProvider(), feature=feature, **options)
    running.started.get()
    return running


@pytest.mark.parametrize("wait", [-1, float("nan"), float("inf"), "10", True, 10**13])
def test_a_wait_that_is_none_is_refused_by_name(runtime: Runtime, wait: Any) -> None:
    with pytest.raises(InvalidArgument, match="retry_after"):
        ProviderError("RATE_LIMIT_REACHED", wait)
    begin(runtime)
    with pytest.raises(InvalidArgument, match="retry_after"):
        runtime.fail("r1/1", "RATE_LIMIT_REACHED", retry_after=wait)


@pytest.mark.parametrize(
    "error", [ProviderError("RATE_LIMIT_REACHED", 2.5), ProviderError("POLICY"), ParentRefused("X1")]
)
def test_errors_can_be_copied_and_pickled(error: ProviderError | ParentRefused) -> None:
    for twin in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert vars(twin) == vars(error)
        assert str(twin) == str(error)


@pytest.mark.parametrize("reason", ["", "two words", "lower", 3])
def test_a_reason_that_could_be_a_text_is_refused(reason: Any) -> None:
    with pytest.raises(InvalidArgument, match="reason"):
        ParentRefused(reason)


def test_the_wait_that_a_provider_raises_reaches_its_retry() -> None:
    """On the way from the event loop of the provider to the batch: a wait of nothing, so that the test need not."""
    asked: list[int] = []

    class Once:
        async def complete(self, call: ProviderCall) -> Completion:
            asked.append(call.attempt)
            raise ProviderError("RATE_LIMIT_REACHED", 0.25) if call.attempt == 1 else ProviderError("POLICY")

    seen: list[int | None] = []
    failed = BatchRun.failed

    def watch(self: BatchRun, error: str, retry_after_us: int | None = None) -> Any:
        seen.append(retry_after_us)
        return failed(self, error, None) if error == "POLICY" else failed(self, "POLICY", retry_after_us)

    with pytest.MonkeyPatch.context() as patch, Runtime() as runtime:
        patch.setattr(BatchRun, "failed", watch)
        request = TranslationRequest("r1", "s1", {"p1": "one"}, "de")
        assert runtime.translate(request, provider=Once()).get(timeout=30).error == "POLICY"
    assert (asked, seen) == ([1], [250_000])


def test_a_batch_passes_the_wait_of_the_failure_that_ended_its_attempt() -> None:
    units = plan_parent("p1", ("one",), 100).units
    batch = BatchRun(0, units, token="abcdefgh", policy=ProviderPolicy(keys=2), direct=False)
    batch.start()
    batch.placed(1)
    batch.failed("RATE_LIMIT_REACHED", 60_000_000)
    batch.placed(2)
    assert batch.failed("RATE_LIMIT_REACHED", 5_000_000) == Retry(1, 5_000_000)
    batch.start()
    batch.placed(1)
    assert batch.failed("NETWORK_ERROR") == Retry(2, None)


def reasons(events: list[ParentEvent]) -> list[tuple[str, str, str | None]]:
    return [(event.parent_id, event.kind.value, event.reason) for event in events if event.kind != "DISPATCHED"]


def test_a_parent_whose_batch_failed_is_told_with_its_error(runtime: Runtime) -> None:
    events: list[ParentEvent] = []
    running = begin(runtime, TextDocument({"p1": "one", "p2": "two"}), progress=events.append)
    runtime.fail("r1/1", "POLICY").get()
    runtime.respond("r1/2", translations={"p2": "zwei"}).get()
    assert running.get().quality == "PARTIAL"
    assert reasons(events) == [("p1", "UNRESOLVED", "POLICY"), ("p2", "ACCEPTED", None)]


def test_the_parents_of_a_request_that_failed_are_told_with_its_error(runtime: Runtime) -> None:
    events: list[ParentEvent] = []
    running = begin(runtime, TextDocument({"p1": "one", "p2": "two"}), progress=events.append)
    runtime.fail("r1/1", "POLICY").get()
    runtime.fail("r1/2", "VALIDATION").get()
    assert running.get().error == "POLICY"
    assert reasons(events) == [("p1", "UNRESOLVED", "POLICY"), ("p2", "UNRESOLVED", "POLICY")]


class Particular:
    """A feature that says why it refuses p1: at once, or in the middle of applying."""

    document = "page"

    def __init__(self, reason: str | None, *, late: bool) -> None:
        self.reason = reason
        self.late = late
        self.undone = 0

    def dispatch(self, parent_id: str, segments: tuple[str, ...]) -> list[Any]:
        if parent_id == "p1" and not self.late:
            raise ParentRefused(self.reason)
        return [self, _Refusing(self.reason)] if parent_id == "p1" else [self]

    def apply(self) -> None: ...

    def undo(self) -> None:
        self.undone += 1


class _Refusing:
    def __init__(self, reason: str | None) -> None:
        self.reason = reason

    def apply(self) -> None:
        raise ParentRefused(self.reason)

    def undo(self) -> None: ...


@pytest.mark.parametrize(
    ("reason", "late", "told"),
    [
        ("STRUCTURE", False, "STRUCTURE"),
        ("STRUCTURE", True, "STRUCTURE"),
        (None, False, "REFUSED"),
        (None, True, "ROLLED_BACK"),
    ],
)
def test_the_word_of_a_feature_is_told_with_its_refusal(
    runtime: Runtime, reason: str | None, late: bool, told: str
) -> None:
    events: list[ParentEvent] = []
    feature = Particular(reason, late=late)
    running = begin(runtime, feature, progress=events.append)
    runtime.respond("r1/1", translations={"p1": "eins"}).get()
    runtime.respond("r1/2", translations={"p2": "zwei"}).get()
    outcome = running.get()
    assert reasons(events) == [("p1", "REJECTED", told), ("p2", "ACCEPTED", None)]
    assert [(found.subject, found.detail) for found in outcome.diagnostics] == [("p1", told)]
    assert feature.undone == late


@pytest.mark.parametrize("until", [3, None.__class__, b"r1"])
def test_a_limit_of_the_history_that_is_no_text_is_refused(runtime: Runtime, until: Any) -> None:
    with pytest.raises(InvalidArgument, match="history_until"):
        begin(runtime, history_until=until)


def test_the_order_of_the_newest_requests_is_known_and_older_ones_came_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_map, "_REQUESTS_KNOWN", 2)
    session = session_map.Session(10, 1)
    for number in range(5):
        session.note_request(f"r{number}")
    assert list(session.requests) == ["r3", "r4"]
    session.note_request("r5")
    session.note_request("r3")
    assert list(session.requests) == ["r4", "r5", "r3"]
    for request in ("r0", "r4", "r5"):
        session.append(TurnRun.of(Turn(request, "p1", "one", "eins")))
    assert [turn.request_id for turn in session.newest(9, "r4")] == ["r0", "r4"]
    assert [turn.request_id for turn in session.newest(1, "r4")] == ["r4"]
    assert list(session.newest(9, "r0")) == []
