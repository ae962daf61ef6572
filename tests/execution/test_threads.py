"""Executions on real threads: many at once with exact histories, and a shutdown in the middle of them.

`DRAGOMAN_REQUESTS=1000 pytest tests/execution/test_threads.py` is the long form.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman import (
    Completion,
    DirectRequest,
    ProviderCall,
    Runtime,
    RuntimeClosed,
    Settings,
    TextDocument,
    TranslationRequest,
    Turn,
)
from dragoman.protocol.failures import ProviderError

from .fragments import good_answer, mapped

PATIENCE_S = 60.0
"""How long a test waits for what must come; only a failing test ever waits that long."""

REQUESTS = int(os.environ.get("DRAGOMAN_REQUESTS", "100"))
PARENTS = 20
SESSIONS = 5


@pytest.fixture(params=[5e-3, 1e-5], ids=["5ms", "10us"])
def switch_interval(request: pytest.FixtureRequest) -> Iterator[float]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(request.param)
    yield request.param
    sys.setswitchinterval(before)


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    left = [thread for thread in threading.enumerate() if thread not in before and "dragoman" in thread.name]
    assert left == []


class Latency:
    """Answers after 0 to 2 ms, in an order that nobody can tell, and some first attempts not at all."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.calls: list[ProviderCall] = []

    async def complete(self, call: ProviderCall) -> Completion:
        self.calls.append(call)
        await asyncio.sleep(self._random.random() * 0.002)
        if call.attempt == 1 and self._random.random() < 0.1:
            raise ProviderError(self._random.choice(("NETWORK_ERROR", "SERVER_ERROR", "ODD_ERROR")))
        if call.attempt == 1 and self._random.random() < 0.1:
            return Completion("beside the point") if len(call.units) > 1 else good_answer(call)
        return good_answer(call)


class Hangs:
    """Never answers, and counts."""

    def __init__(self) -> None:
        self.begun = self.ended = 0
        self.called = threading.Semaphore(0)

    async def complete(self, call: ProviderCall) -> Completion:
        self.begun += 1
        self.called.release()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended += 1
        raise AssertionError


def _sources(request: str) -> dict[str, str]:
    return {f"p{number}": f"{request} parent {number}" for number in range(PARENTS)}


@pytest.mark.usefixtures("switch_interval")
def test_many_requests_at_once_end_with_exact_histories(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.actors.operation.longest_delay_us", lambda attempt: 1000 * attempt)
    settings = Settings(max_turns=10**6, batch_units=3, batch_chars=40, prompt_turns=3, max_open_executions=10**4)
    provider = Latency(1)
    names = [f"r{number}" for number in range(REQUESTS)]
    sessions = {name: f"s{place % SESSIONS}" for place, name in enumerate(names)}
    documents = {name: TextDocument(_sources(name)) for name in names}
    with Runtime(settings) as runtime:
        running = [
            runtime.translate(
                TranslationRequest(name, sessions[name], _sources(name), "de"),
                provider=provider,
                feature=documents[name],
            )
            for name in names
        ]
        assert {one.get(PATIENCE_S).quality for one in running} == {"COMPLETE"}
        histories = {name: runtime.history(name, max_turns=10**6).get() for name in set(sessions.values())}
        left = runtime.snapshot()
        assert (left.running, left.open_calls, left.open_requests) == ((), (), ())
        statistics = runtime.statistics().get()["openai"]
        assert statistics.calls == len(provider.calls) == sum(one.get().calls for one in running)
    assert runtime.close().clean
    for session, turns in histories.items():
        assert [(turn.request_id, turn.parent_id, turn.user, turn.assistant) for turn in turns] == [
            (name, parent, source, mapped(source))
            for name in names
            if sessions[name] == session
            for parent, source in _sources(name).items()
        ]
    for name, document in documents.items():
        assert document.texts() == {parent: mapped(source) for parent, source in _sources(name).items()}
    for call in provider.calls:
        _look_at_prompt(call, histories[sessions[call.request_id]], names)


def _look_at_prompt(call: ProviderCall, turns: tuple[Turn, ...], names: list[str]) -> None:
    """A prompt is a stretch of what was committed, and of requests that were registered before."""
    if not call.history:
        return
    assert call.purpose == "PRIMARY_TRANSLATION"
    first = turns.index(call.history[0])
    assert turns[first : first + len(call.history)] == call.history
    assert all(names.index(turn.request_id) < names.index(call.request_id) for turn in call.history)


@pytest.mark.usefixtures("switch_interval")
def test_a_shutdown_in_the_middle_answers_everybody() -> None:
    for seed in range(5):
        rng = random.Random(seed)
        hangs, answers = Hangs(), Latency(seed)
        runtime = Runtime(Settings(batch_units=3))
        running = []
        for number in range(30):
            provider = rng.choice((hangs, answers))
            name, session = f"r{number}", f"s{number % 3}"
            if rng.random() < 0.3:
                running.append(runtime.direct(DirectRequest(name, session, "ab", "de"), provider=provider))
            else:
                request = TranslationRequest(name, session, _sources(name), "de")
                running.append(runtime.translate(request, provider=provider, feature=TextDocument(_sources(name))))
        assert hangs.called.acquire(timeout=PATIENCE_S)
        report = runtime.close(PATIENCE_S)
        assert report.clean
        assert not report.counts.failed
        for one in running:
            assert one.done
            outcome = one.get(0)
            assert outcome.requested == len(outcome.translated) + len(outcome.unresolved) + len(outcome.cancelled)
            assert outcome.error in (None, "SHUT_DOWN") or outcome.execution == "FAILED"
        assert hangs.begun == hangs.ended
        assert runtime.close() is report


def _call_until_closed(runtime: Runtime, provider: Latency, first: int, ends: list[object]) -> None:
    for number in range(first, first + 20):
        request = TranslationRequest(f"r{number}", f"s{number % 2}", {"p1": "ab"}, "de")
        try:
            running = runtime.translate(request, provider=provider)
            runtime.cancel(f"r{number - 1}")
            ends.append(running.get(PATIENCE_S).execution)
        except RuntimeClosed as closed:
            ends.append(closed)


def test_a_shutdown_races_with_callers() -> None:
    for seed in range(8):
        runtime, provider, ends = Runtime(Settings(batch_units=3)), Latency(seed), list[object]()
        threads = [
            threading.Thread(target=_call_until_closed, args=(runtime, provider, first, ends)) for first in (0, 50, 90)
        ]
        for thread in threads:
            thread.start()
        report = runtime.close(PATIENCE_S)
        for thread in threads:
            thread.join(PATIENCE_S)
        assert report.at_rest
        assert report.threads_left == ()
        assert len(ends) == 60, "an answer that never comes"


def test_a_call_that_is_cancelled_before_its_task_has_run_never_reaches_the_provider() -> None:
    begun: list[str] = []
    busy, second_made, busy_again, cancelled = (threading.Event() for _ in range(4))

    class Blocking:
        async def complete(self, call: ProviderCall) -> Completion:
            begun.append(call.id)
            busy.set()
            assert second_made.wait(PATIENCE_S)
            # The task of the second call is made in the turn of the loop that ends here, and has yet to run.
            await asyncio.sleep(0)
            busy_again.set()
            assert cancelled.wait(PATIENCE_S)
            return good_answer(call)

    with Runtime() as runtime:
        provider = Blocking()
        first = runtime.direct(DirectRequest("r1", "s1", "ab", "de"), provider=provider)
        assert busy.wait(PATIENCE_S)
        second = runtime.direct(DirectRequest("r2", "s2", "ab", "de"), provider=provider)
        second.started.get(PATIENCE_S)
        second_made.set()
        assert busy_again.wait(PATIENCE_S)
        runtime.cancel("r2").get(PATIENCE_S)
        assert runtime.snapshot(PATIENCE_S).open_calls == ("r1/1",)
        cancelled.set()
        assert first.get(PATIENCE_S).quality == "COMPLETE"
    assert begun == ["r1/1"]


class Held:
    """Answers well, once it is let go."""

    def __init__(self) -> None:
        self.called = threading.Event()
        self.release = asyncio.Event()
        self.loop: asyncio.AbstractEventLoop | None = None

    async def complete(self, call: ProviderCall) -> Completion:
        self.loop = asyncio.get_running_loop()
        self.called.set()
        await self.release.wait()
        return good_answer(call)

    def let_go(self) -> None:
        assert self.loop is not None
        self.loop.call_soon_threadsafe(self.release.set)


def test_a_parent_that_was_rejected_by_hand_is_not_applied() -> None:
    provider, document = Held(), TextDocument(_sources("r1"))
    with Runtime() as runtime:
        running = runtime.translate(
            TranslationRequest("r1", "s1", _sources("r1"), "de"), provider=provider, feature=document
        )
        assert provider.called.wait(PATIENCE_S)
        assert runtime.reject("r1", "p7").get(PATIENCE_S).status == "REJECTED"
        provider.let_go()
        assert running.get(PATIENCE_S).quality == "COMPLETE"
        turns = runtime.history("s1", max_turns=PARENTS).get(PATIENCE_S)
    assert document["p7"] == "r1 parent 7"
    assert document["p6"] == mapped("r1 parent 6")
    assert "p7" not in [turn.parent_id for turn in turns]


def test_a_parent_that_was_accepted_by_hand_is_recorded(tmp_path: Path) -> None:
    provider, document = Held(), TextDocument(_sources("r1"), by_hand=True)
    with Runtime(Settings(feature_history=str(tmp_path / "applied.db"))) as runtime:
        running = runtime.translate(
            TranslationRequest("r1", "s1", _sources("r1"), "de"), provider=provider, feature=document
        )
        assert provider.called.wait(PATIENCE_S)
        assert runtime.acknowledge("r1", "p7", "by hand").get(PATIENCE_S).status == "ACCEPTED"
        provider.let_go()
        running.get(PATIENCE_S)
        recorded = runtime.feature_history().get(PATIENCE_S)
    assert [(entry.parent_id, entry.translated) for entry in recorded] == [("p7", "by hand")]


@pytest.mark.usefixtures("switch_interval")
def test_a_cancel_that_races_with_the_answers_is_the_end_or_comes_too_late() -> None:
    for seed in range(6):
        rng = random.Random(seed)
        provider = Latency(seed)
        with Runtime(Settings(batch_units=2, max_turns=1000)) as runtime:
            documents = {f"r{number}": TextDocument(_sources(f"r{number}")) for number in range(12)}
            running = {
                name: runtime.translate(
                    TranslationRequest(name, "s1", _sources(name), "de"), provider=provider, feature=document
                )
                for name, document in documents.items()
            }
            ended = {name: runtime.cancel(name) for name in rng.sample(sorted(running), 6)}
            for name, future in ended.items():
                outcome = running[name].get(PATIENCE_S)
                assert future.get(PATIENCE_S).status in ("DISPOSED", "UNKNOWN_REQUEST")
                if outcome.execution == "CANCELLED":
                    assert outcome.error == "USER_CANCELLED"
            for name in running.keys() - ended.keys():
                runtime.cancel(name).get(PATIENCE_S)
                running[name].get(PATIENCE_S)
            left = runtime.snapshot()
            assert (left.running, left.open_calls, left.open_requests) == ((), (), ())
            turns = runtime.history("s1", max_turns=1000).get()
            places = [(int(turn.request_id[1:]), int(turn.parent_id[1:])) for turn in turns]
            assert places == sorted(set(places)), "out of order, or twice"
            for turn in turns:
                assert documents[turn.request_id][turn.parent_id] == turn.assistant
        assert runtime.close().clean
