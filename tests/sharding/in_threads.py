"""Shards without Ray: each in threads of this process, with everything that passes pickled on its way.

What they are sent, and when it is answered, is in the hands of the test.
"""

from __future__ import annotations

import pickle
import queue
import threading
from collections.abc import Callable
from typing import Any

from dragoman.sharding.errors import LossReason
from dragoman.sharding.launching import Done
from dragoman.sharding.shard import Shard

__all__ = ["ThreadLauncher", "ThreadShard"]


class ThreadShard:
    """A shard in two threads, as a Ray actor has them; `sent` are the sizes of its batches.

    `killed` as whoever kills a process from outside: what is on its way is answered with a loss, and has no effect that
    anybody sees.
    """

    def __init__(self, shard: int, held: threading.Event) -> None:
        self.shard = shard
        self.inner = Shard(shard)
        self.batches: list[int] = []
        self.alive = True
        self._held = held
        self._changing = threading.Lock()
        self._owed: list[Done] = []
        self._queues: dict[str, queue.SimpleQueue[Callable[[], None] | None]] = {}

    def call(self, method: str, *arguments: Any, done: Done) -> None:
        sent = pickle.dumps(arguments)
        if method == "run":
            self.batches.append(len(pickle.loads(arguments[2])))
        with self._changing:
            if self.alive:
                self._owed.append(done)
                self._queue("collect" if method == "collect" else "run").put(lambda: self._run(method, sent, done))
                return
        done(None, LossReason.DIED)

    def _queue(self, name: str) -> queue.SimpleQueue[Callable[[], None] | None]:
        if name not in self._queues:
            steps: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
            self._queues[name] = steps
            threading.Thread(target=self._work, args=(steps,), daemon=True).start()
        return self._queues[name]

    def _work(self, steps: queue.SimpleQueue[Callable[[], None] | None]) -> None:
        while (step := steps.get()) is not None:
            step()

    def _run(self, method: str, sent: bytes, done: Done) -> None:
        self._held.wait()
        if not self.alive:
            return
        answer, reason = None, None
        try:
            answer = pickle.loads(pickle.dumps(getattr(self.inner, method)(*pickle.loads(sent))))
        except Exception:
            reason = LossReason.FAILED
        with self._changing:
            if done not in self._owed:
                return
            self._owed.remove(done)
        done(answer, reason)

    def kill(self) -> None:
        with self._changing:
            self.alive, owed = False, self._owed
            self._owed = []
        for done in owed:
            done(None, LossReason.DIED)
        for steps in self._queues.values():
            steps.put(None)
        # By another thread: the one that kills may be that of the courier, where nothing must wait.
        threading.Thread(target=self._clear, daemon=True).start()

    def _clear(self) -> None:
        with self.inner._arrived:
            self.inner._incarnation = -1
            self.inner._arrived.notify_all()
        if self.inner._runtime is not None:
            self.inner._runtime.close(0.5)


class ThreadLauncher:
    """Starts shards in threads; `shards` are all that were started, `let_go` lets them run what they are sent."""

    def __init__(self) -> None:
        self.shards: list[ThreadShard] = []
        self.let_go = threading.Event()
        self.let_go.set()

    def pickled(self, provider: object) -> bytes:
        return pickle.dumps(provider)

    def launch(self, shard: int) -> ThreadShard:
        self.shards.append(ThreadShard(shard, self.let_go))
        return self.shards[-1]

    def living(self, shard: int) -> ThreadShard:
        """The shard of that number that lives now."""
        return next(started for started in reversed(self.shards) if started.shard == shard)
