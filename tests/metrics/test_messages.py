"""Messages: sent = handled + dead + queued, by kind of actor; and how long handling takes, where that is measured."""

from __future__ import annotations

import threading

import pytest

from dragoman import Runtime, RuntimeStatistics, SimulatedDispatcher, WaitTimeout
from dragoman.actors.actor import Actor, handles
from dragoman.actors.mailbox import Envelope

from .calls import Held, Stuck, acknowledge, open_request


class Slow(Actor):
    """Handles `Held` until it is let go on."""

    in_registry = False

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime.dispatcher)
        self.began, self.goes_on = threading.Event(), threading.Event()

    @handles(Held)
    def _hold(self, _message: Held, _envelope: Envelope[None]) -> None:
        self.began.set()
        assert self.goes_on.wait(30)


def is_timed(runtime: Runtime) -> bool:
    """Whether any actor has a `receive` of its own."""
    return any("receive" in getattr(actor, "__dict__", {}) for actor in runtime.dispatcher._live.values())


def balance(statistics: RuntimeStatistics) -> int:
    messages = statistics.messages
    return messages.sent - messages.handled - messages.dead - messages.queued


def test_no_message_is_lost_in_virtual_time(runtime: Runtime) -> None:
    open_request(runtime, "r1")
    acknowledge(runtime, "r1", "p1").get()
    statistics = runtime.statistics().get()
    assert balance(statistics) == 0
    mailboxes = statistics.messages.mailboxes
    assert sum(mailbox.handled for mailbox in mailboxes.values()) == statistics.messages.handled
    assert mailboxes["AcceptanceHandle"].actors == 1
    acknowledge(runtime, "r1", "p2").get()
    after = runtime.statistics().get().messages.mailboxes["AcceptanceHandle"]
    assert after.actors == 0
    assert after.handled > mailboxes["AcceptanceHandle"].handled


def test_no_message_is_lost_with_threads(threaded: Runtime) -> None:
    for number in range(20):
        open_request(threaded, f"r{number}")

    def call(part: int) -> None:
        for number in range(part, 20, 4):
            for parent in ("p1", "p2", "p1"):
                acknowledge(threaded, f"r{number}", parent).get()

    threads = [threading.Thread(target=call, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    statistics = threaded.statistics().get()
    assert balance(statistics) == 0
    assert sum(statistics.acceptance.acks.values()) == 60
    assert statistics.acceptance.acks["ACCEPTED"] == 40


def test_counters_never_go_back_while_actors_come_and_go(threaded: Runtime) -> None:
    over = threading.Event()

    def work() -> None:
        for number in range(300):
            open_request(threaded, f"r{number}", f"s{number % 5}", parents=1)
            acknowledge(threaded, f"r{number}", "p1").get()
        over.set()

    worker = threading.Thread(target=work)
    worker.start()
    accepted = handled = 0
    while not over.is_set():
        statistics = threaded.read_statistics(30)
        mailboxes = statistics.messages.mailboxes
        assert statistics.acceptance.acks.get("ACCEPTED", 0) >= accepted
        now_handled = mailboxes["AcceptanceHandle"].handled if "AcceptanceHandle" in mailboxes else 0
        assert now_handled >= handled
        accepted, handled = statistics.acceptance.acks.get("ACCEPTED", 0), now_handled
    worker.join()
    assert threaded.statistics().get().acceptance.acks == {"ACCEPTED": 300}


def test_a_full_mailbox_is_told_by_its_depth(threaded: Runtime) -> None:
    slow = Slow(threaded)
    mailbox = slow.spawn()
    for _ in range(4):
        mailbox.leave(Envelope(Held()))
    assert slow.began.wait(30)
    mailboxes = threaded.read_statistics(30).messages.mailboxes
    assert (mailboxes["Slow"].queued, mailboxes["Slow"].longest, mailboxes["Slow"].actors) == (3, 3, 1)
    slow.goes_on.set()


def test_dead_letters_are_told_by_reason(runtime: Runtime) -> None:
    slow = Slow(runtime)
    mailbox = slow.spawn()
    mailbox.tell(Held())
    runtime.dispatcher.retire(mailbox)
    mailbox.tell(Held())
    statistics = runtime.statistics().get()
    assert statistics.messages.dead_letters == {"stopped": 1, "closed": 1}
    assert balance(statistics) == 0


@pytest.mark.parametrize("name", ["coordinator", "sessions", "store", "service", "gateway", "statistics"])
def test_reading_gives_up_on_an_actor_that_is_stuck(threaded: Runtime, name: str) -> None:
    stuck = Stuck(getattr(threaded._crew, name))
    with pytest.raises(WaitTimeout):
        threaded.read_statistics(0.02)
    stuck.goes_on.set()
    assert threaded.read_statistics(30).provider_tasks == 0


def test_handling_is_not_timed_unless_it_is_asked_for(threaded: Runtime) -> None:
    open_request(threaded, "r1")
    before = threaded.statistics().get().messages.mailboxes
    assert all(mailbox.handling_times is None for mailbox in before.values())
    assert not is_timed(threaded)


def test_handling_is_timed_for_a_sample_once_it_is_measured(threaded: Runtime) -> None:
    threaded.measure()
    threaded.measure()
    for number in range(200):
        open_request(threaded, f"r{number}", f"s{number % 5}", parents=1)
        acknowledge(threaded, f"r{number}", "p1").get()
    statistics = threaded.statistics().get()
    times = [mailbox.handling_times for mailbox in statistics.messages.mailboxes.values() if mailbox.handling_times]
    sampled = sum(one.count for one in times)
    assert 0 < sampled < statistics.messages.handled / 8
    assert all(0 < one.sum_s < 60 for one in times)
    assert balance(statistics) == 0
    assert statistics.acceptance.acks == {"ACCEPTED": 200}


def test_measuring_one_runtime_measures_no_other(threaded: Runtime) -> None:
    with Runtime() as other:
        other.measure()
        assert is_timed(other)
        open_request(threaded, "r1")
        assert not is_timed(threaded)


def test_measuring_changes_nothing_in_virtual_time() -> None:
    tapes = []
    for measured in (False, True):
        dispatcher = SimulatedDispatcher(seed=3, choose=lambda options: options - 1)
        with Runtime(dispatcher=dispatcher) as runtime:
            if measured:
                runtime.measure()
            open_request(runtime, "r1")
            sent = [acknowledge(runtime, "r1", parent) for parent in ("p2", "p1", "p1")]
            answers = [one.get() for one in sent]
            tapes.append((tuple(dispatcher.tape), answers))
    assert tapes[0] == tapes[1]
