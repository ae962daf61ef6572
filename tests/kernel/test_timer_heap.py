"""The heap of timers against a model that is a sorted list."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from dragoman.actors.mailbox import Mailbox
from dragoman.actors.timers import TimerEntry, TimerFired, TimerHeap

SMALL = 64


class HeapAndModel(RuleBasedStateMachine):
    """Starts, cancels and lets time pass on both, which must agree on what fires and when."""

    running = Bundle("running")
    stamps = Bundle("stamps")

    def __init__(self) -> None:
        super().__init__()
        self.heap = TimerHeap()
        self.mailbox = Mailbox()
        self.model: list[tuple[int, int, int, str]] = []
        self.stamp = 0
        self.now_us = 0
        self.most = 0

    @rule(target=running, delay_us=st.integers(0, 50), key=st.sampled_from("abc"))
    def start(self, delay_us: int, key: str) -> TimerEntry:
        self.stamp += 1
        return self._start(delay_us, key, self.stamp, None)

    @rule(target=stamps)
    def keep_a_place(self) -> int:
        self.stamp += 1
        assert self.heap.stamp() == self.stamp
        return self.stamp

    @rule(target=running, delay_us=st.integers(0, 50), key=st.sampled_from("abc"), stamp=stamps)
    def start_in_a_kept_place(self, delay_us: int, key: str, stamp: int) -> TimerEntry:
        return self._start(delay_us, key, stamp, stamp)

    def _start(self, delay_us: int, key: str, stamp: int, given: int | None) -> TimerEntry:
        due_us = self.now_us + delay_us
        entry = self.heap.start(due_us, self.mailbox, key, given)
        assert all(entry.generation != timer[2] for timer in self.model)
        self.model.append((due_us, stamp, entry.generation, key))
        return entry

    @rule(delay_us=st.integers(0, 50), count=st.integers(1, 200))
    def start_and_cancel_many(self, delay_us: int, count: int) -> None:
        self.stamp += count
        for _ in range(count):
            self.heap.cancel(self.heap.start(self.now_us + delay_us, self.mailbox, "many"))

    @rule(entry=running)
    def cancel_and_leave_for_later_cancels(self, entry: TimerEntry) -> None:
        self._cancel(entry)

    @rule(entry=consumes(running))
    def cancel(self, entry: TimerEntry) -> None:
        self._cancel(entry)

    def _cancel(self, entry: TimerEntry) -> None:
        self.heap.cancel(entry)
        self.model = [timer for timer in self.model if timer[2] != entry.generation]

    @rule(delta_us=st.integers(0, 40))
    def advance(self, delta_us: int) -> None:
        self.now_us += delta_us
        for timer in sorted(self.model):
            due_us, _stamp, generation, key = timer
            if due_us > self.now_us:
                break
            assert self.heap.pop_due(self.now_us) == (self.mailbox, TimerFired(key, generation), due_us)
            self.model.remove(timer)
        assert self.heap.pop_due(self.now_us) is None

    @invariant()
    def the_next_is_the_same(self) -> None:
        assert self.heap.next_due_us() == (min(self.model)[0] if self.model else None)

    @invariant()
    def the_live_timers_are_counted(self) -> None:
        assert len(self.heap) == len(self.model)

    @invariant()
    def the_heap_is_bounded_by_the_live_timers(self) -> None:
        assert len(self.heap._heap) <= 2 * len(self.model) + SMALL + 1


TestHeapAndModel = HeapAndModel.TestCase
TestHeapAndModel.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
