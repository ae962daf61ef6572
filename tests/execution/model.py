"""The rules of execution, once more and without concurrency: what the runtime is compared with.

Written from the pages on top of the model of acceptance: one whole step after another, no message and no thread. It
shares no code with the product and knows its words as strings only. Texts are of short words with one space between
them; a translation is given per unit, as a text or as a tuple of segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..acceptance.model import Model, Request
from .records import Batch, Execution, Pieces, Provider, Text, Unit, batches_of, judge, units_of

ATTEMPTS = {"RATE_LIMIT_REACHED": 5, "NETWORK_ERROR": 4, "MODEL_OVERLOADED": 4, "SERVER_ERROR": 3, "QUOTA_EXCEEDED": 3}
ATTEMPTS |= dict.fromkeys(("API_KEY_INVALID", "VALIDATION", "POLICY", "TEXT_TOO_LONG", "CIRCUIT_BREAKER_OPEN"), 1)
OF_KEYS = ("API_KEY_INVALID", "QUOTA_EXCEEDED", "INSUFFICIENT_BALANCE", "RATE_LIMIT_REACHED")
COOLDOWN = 100_000_000
BACK_OFF = 200_000_000
"""Longer than any delay, and than the cooldown of a circuit."""


@dataclass
class ExecutionModel(Model):
    batch_chars: int = 3500
    batch_units: int = 25
    concurrent: int = 4
    max_open_executions: int = 10_000
    prompt_turns: int = 1
    circuit_failures: int = 0
    providers: dict[str, Provider] = field(default_factory=dict)
    executions: dict[str, Execution] = field(default_factory=dict)
    stats: dict[str, dict[str, int]] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=dict)
    undelivered: set[str] = field(default_factory=set)

    # Operations.

    def register(self, request_id: str, session_id: str, parents: list[tuple[str, str]]) -> str:
        if self.history_enabled and request_id in self.executions:
            return "DUPLICATE_REQUEST"
        return super().register(request_id, session_id, parents)

    def translate(
        self,
        request_id: str,
        session_id: str,
        provider: str,
        parents: Sequence[tuple[str, Text]],
        by_hand: bool = False,
        refused: tuple[str, ...] = (),
    ) -> str:
        sources = {name: (text,) if isinstance(text, str) else text for name, text in parents}
        units = [unit for name, text in sources.items() for unit in units_of(name, text, self.batch_chars)]
        batches = batches_of(units, self.batch_chars, self.batch_units)
        started = self._begin(request_id, session_id, provider, False, sources, batches)
        if isinstance(started, str):
            return started
        started.by_hand, started.refused = by_hand, refused
        started.document = {name: text if isinstance(text, str) else list(text) for name, text in parents}
        started.closed_document = request_id in self.undelivered
        if started.session is not None:
            handle = [(name, "".join(text)) for name, text in sources.items()]
            assert super().register(request_id, session_id, handle) == "REGISTERED"
            started.handle = self._find(request_id)
        self._work(started)
        return "STARTED"

    def direct(self, request_id: str, session_id: str, provider: str, source: str) -> str:
        batches = [Batch(0, [Unit(request_id, request_id, (source,))])]
        started = self._begin(request_id, session_id, provider, True, {request_id: (source,)}, batches)
        if isinstance(started, str):
            return started
        self._work(started)
        return "STARTED"

    def _begin(
        self, request_id: str, session_id: str, provider: str, direct: bool, parents: Any, batches: list[Batch]
    ) -> Execution | str:
        if self._find(request_id) or self._remembered(request_id) or request_id in self.executions:
            return "DUPLICATE_REQUEST"
        takes_part = self.history_enabled and session_id and self.providers[provider].kind == "ai"
        running = sum(one.state == "RUNNING" for one in self.executions.values())
        if running >= self.max_open_executions:
            return "OVERLOADED"
        if takes_part and not direct and len(self.open) >= self.max_open_handles:
            return "OVERLOADED"
        session = self._use(session_id) or self._make(session_id) if takes_part else None
        if takes_part and session is None:
            return "OVERLOADED"
        turns = session.turns[max(0, len(session.turns) - self.prompt_turns) :] if session and self.prompt_turns else []
        history = [(turn[2], turn[3]) for turn in turns]
        execution = Execution(request_id, session, session_id, provider, direct, parents, batches, history)
        self.executions[request_id] = execution
        return execution

    def answer(self, call: str, answer: Any) -> str | None:
        """`answer` is a kind (`texts`, `policy`, `garbage`, `doubled`, `no ids` or `error`) and what goes with it."""
        request_id, _, number = call.partition("/")
        execution = self.executions.get(request_id)
        if execution is None or not 1 <= int(number) <= execution.made:
            return "UnknownCall"
        batch = execution.open.pop(int(number), None)
        if batch is None:
            return None
        provider = self.providers[execution.provider]
        if answer[0] == "error":
            self.errors[execution.provider] = self.errors.get(execution.provider, 0) + 1
            self._circuit_failed(provider, batch.passage, answer[1])
            self._failed(execution, batch, answer[1])
        else:
            provider.key = batch.tried[-1]
            if batch.passage == "probe":
                provider.circuit = "closed"
            if provider.circuit == "closed":
                provider.row = 0
            self._answered(execution, batch, answer)
        self._work(execution)
        return None

    def cancel(self, request_id: str) -> str:
        return self._end(request_id, "CANCELLED", "USER_CANCELLED", "CANCELLED")

    def time_out(self, request_id: str) -> str:
        execution = self.executions.get(request_id)
        if execution is None or execution.state != "RUNNING":
            return "UNKNOWN_REQUEST"
        return self._end(request_id, "FAILED", "TRANSLATION_TIMEOUT", "TIMED_OUT")

    def edit(self, request_id: str, parent: str, text: str) -> str:
        execution = self.executions.get(request_id)
        if execution is None or execution.direct or parent not in execution.document:
            return "nothing to edit"
        execution.edited.add(parent)
        execution.document[parent] = text
        return "edited"

    def fail_dispatch(self, request_id: str) -> None:
        self.undelivered.add(request_id)
        if request_id in self.executions:
            self.executions[request_id].closed_document = True

    def ack(self, request_id: str, parent_id: str, result: str) -> tuple[str, list[str]]:
        status, committed = super().ack(request_id, parent_id, result)
        execution = self.executions.get(request_id)
        if status == "ACCEPTED" and execution is not None and execution.by_hand:
            was_text = isinstance(execution.document[parent_id], str)
            execution.document[parent_id] = result if was_text else [result]
        return status, committed

    def fire(self, request_id: str, batch: int | None) -> None:
        """A timer of an execution: the end of a back-off, or its time-out."""
        execution = self.executions[request_id]
        if batch is None:
            self.time_out(request_id)
        elif execution.batches[batch].stage == "waiting":
            execution.batches[batch].stage = "queued"
            self._work(execution)

    def waiting(self) -> list[tuple[str, int]]:
        """The batches whose back-off will be over."""
        return [
            (execution.id, batch.number)
            for execution in self.executions.values()
            if execution.state == "RUNNING"
            for batch in execution.batches
            if batch.stage == "waiting"
        ]

    def back_off(self, order: Sequence[tuple[str, int]]) -> None:
        """All that waits is tried anew, in `order`; then the cooldowns are over."""
        for request_id, number in order:
            execution = self.executions[request_id]
            execution.batches[number].stage = "queued"
            self._work(execution)
        self.now += BACK_OFF

    def seen(self) -> dict[str, Any]:
        executions = self.executions.values()
        return {
            **super().seen(),
            "running": sorted(one.id for one in executions if one.state == "RUNNING"),
            "open calls": sorted(f"{one.id}/{number}" for one in executions for number in one.open),
            "calls": {one.id: one.calls for one in executions},
            "outcomes": {one.id: one.outcome() for one in executions},
            "documents": {one.id: one.document for one in executions if not one.direct},
            "stats": {name: (counts, self.errors.get(name, 0)) for name, counts in self.stats.items()},
            "retries due": len(self.waiting()),
        }

    # Rules.

    def _same_session(self, execution: Execution) -> bool:
        return execution.session is not None and self._session(execution.session_id) is execution.session

    def _handle(self, execution: Execution) -> Request | None:
        return None if execution.session is None or execution.direct else self._find(execution.id)

    def _end(self, request_id: str, state: str, error: str, cause: str) -> str:
        execution, handle = self.executions.get(request_id), self._find(request_id)
        running = execution is not None and execution.state == "RUNNING"
        if execution is not None and running:
            for batch in execution.open.values():
                if batch.passage == "probe":
                    self.providers[execution.provider].circuit = "open"
            execution.state, execution.error = state, error
            execution.open.clear()
        if handle is not None:
            self._close(handle, cause)
        return "DISPOSED" if running or handle is not None else "UNKNOWN_REQUEST"

    def _work(self, execution: Execution) -> None:
        while execution.state == "RUNNING":
            if execution.over:
                self._conclude(execution)
                return
            following = next((batch for batch in execution.batches if batch.stage == "asking"), None)
            if following is None:
                holding = sum(batch.stage in ("asking", "open") for batch in execution.batches)
                following = next((batch for batch in execution.batches if batch.stage == "queued"), None)
                if following is None or holding >= self.concurrent:
                    return
                limit = self.providers[execution.provider].max_chars
                if limit is not None and any(unit.chars > limit for unit in following.units):
                    self._give_up(execution, following, "TEXT_TOO_LONG")
                    continue
                following.attempt += 1
                following.kept, following.queue = {}, []
                execution.candidate = "empty"
                machine = self.providers[execution.provider].kind == "machine"
                form = "texts" if machine else "scalar" if execution.direct else "structured"
                self._ask(following, following.units, form, recovers=False)
            self._call(execution, following)

    def _ask(self, batch: Batch, units: list[Unit], form: str, *, recovers: bool) -> None:
        batch.stage, batch.asked, batch.form, batch.recovers, batch.tried = "asking", units, form, recovers, []

    def _call(self, execution: Execution, batch: Batch) -> None:
        provider = self.providers[execution.provider]
        batch.passage = self._enter(provider)
        if not batch.passage:
            self._failed(execution, batch, "CIRCUIT_BREAKER_OPEN")
            return
        batch.moved |= bool(batch.tried)
        batch.tried.append(batch.tried[-1] % provider.keys + 1 if batch.tried else provider.key)
        execution.made += 1
        execution.open[execution.made] = batch
        batch.stage = "open"
        purpose = "STRUCTURED_RECOVERY" if batch.recovers else "PRIMARY_TRANSLATION"
        counts = self.stats.setdefault(execution.provider, {})
        counts[purpose] = counts.get(purpose, 0) + 1
        history = [] if batch.recovers else execution.history
        execution.calls.append((purpose, batch.tried[-1], [unit.id for unit in batch.asked], history))
        if not batch.recovers and self._same_session(execution):
            session = self._use(execution.session_id)
            assert session is not None
            session.counter += 1

    def _answered(self, execution: Execution, batch: Batch, answer: tuple[str, Any]) -> None:
        machine = self.providers[execution.provider].kind == "machine"
        kind, texts = answer
        valid, unsafe = judge(batch, kind, texts, machine=machine)
        if len(valid) == len(batch.asked):
            batch.kept |= valid
            if batch.queue:
                self._ask(batch, [batch.queue.pop(0)], "scalar", recovers=True)
            else:
                self._resolved(execution, batch)
        elif kind == "policy" or batch.recovers or machine:
            self._attempt_failed(execution, batch, "POLICY" if kind == "policy" else "API_RESPONSE_INVALID")
        else:
            execution.candidate = "discarded"
            if valid and not unsafe and self.providers[execution.provider].recovery == "selective":
                batch.kept = valid
                self._ask(batch, [unit for unit in batch.asked if unit.id not in valid], "structured", recovers=True)
            else:
                batch.queue = batch.units[1:]
                self._ask(batch, batch.units[:1], "scalar", recovers=True)

    def _failed(self, execution: Execution, batch: Batch, error: str) -> None:
        if error in OF_KEYS and len(batch.tried) < self.providers[execution.provider].keys:
            batch.stage = "asking"
        else:
            self._attempt_failed(execution, batch, error)

    def _attempt_failed(self, execution: Execution, batch: Batch, error: str) -> None:
        execution.candidate = "discarded"
        if batch.attempt < ATTEMPTS.get(error, 2):
            batch.stage = "waiting"
        else:
            self._give_up(execution, batch, error)

    def _give_up(self, execution: Execution, batch: Batch, error: str) -> None:
        batch.stage = "failed"
        execution.first_error = execution.first_error or error
        if execution.over and not execution.translated:
            return
        handle = self._handle(execution)
        for parent in dict.fromkeys(unit.parent for unit in batch.units):
            if parent not in execution.unresolved:
                execution.unresolved.append(parent)
                if handle is not None and handle.cause is None:
                    self.reject(execution.id, parent)
        self._end_dispatch(execution)

    def _resolved(self, execution: Execution, batch: Batch) -> None:
        batch.stage = "resolved"
        execution.done |= {unit.id: batch.kept[unit.id] for unit in batch.units}
        for parent in execution.parents:
            if parent in execution.translated or parent in execution.unresolved:
                continue
            units = [unit for one in execution.batches for unit in one.units if unit.parent == parent]
            if not all(unit.id in execution.done for unit in units):
                continue
            pieces = execution.done[units[0].id]
            if len(units) > 1:
                pieces = (" ".join(execution.done[unit.id][0] for unit in units),)
            execution.translated[parent] = pieces
            if execution.direct:
                self._commit_direct(execution, batch, pieces[0])
            else:
                self._dispatch(execution, parent, pieces)
        self._end_dispatch(execution)

    def _commit_direct(self, execution: Execution, batch: Batch, text: str) -> None:
        if batch.recovers or execution.candidate != "empty" or not self._same_session(execution):
            return
        session = self._session(execution.session_id)
        assert session is not None
        if self.faults.get(session.id, 0):
            self.faults[session.id] -= 1
            return
        session.turns.append((execution.id, execution.id, execution.parents[execution.id][0], text))
        self._use(session.id)
        session.turns = session.turns[-self.max_turns :]

    def _dispatch(self, execution: Execution, parent: str, pieces: Pieces) -> None:
        if execution.undeliverable or self._rejected_by_hand(execution, parent):
            return
        if execution.closed_document:
            execution.undeliverable = True
        elif parent in execution.refused or parent in execution.edited:
            self.reject(execution.id, parent)
        elif not execution.by_hand:
            was_text = isinstance(execution.document[parent], str)
            execution.document[parent] = pieces[0] if was_text else list(pieces)
            super().ack(execution.id, parent, "".join(pieces))

    def _rejected_by_hand(self, execution: Execution, parent: str) -> bool:
        """A parent that was rejected is not applied either, whatever became of its handle since (C3.3)."""
        return execution.handle is not None and execution.handle.states().get(parent) == "REJECTED"

    def _end_dispatch(self, execution: Execution) -> None:
        """Once nothing more is to be dispatched the window begins, or the handle closes if something could not be."""
        handle = self._handle(execution)
        if handle is None or len(execution.translated) + len(execution.unresolved) < len(execution.parents):
            return
        if execution.undeliverable:
            self._close(handle, "DISPATCH_FAILED")
        else:
            self.activate(execution.id)

    def _conclude(self, execution: Execution) -> None:
        if execution.translated:
            execution.state = "COMPLETED"
            return
        execution.state, execution.error = "FAILED", execution.first_error
        handle = self._handle(execution)
        if handle is not None:
            self._close(handle, "EXECUTION_FAILED")

    def _enter(self, provider: Provider) -> str:
        if provider.circuit == "closed":
            return "call"
        if provider.circuit == "open" and self.now - provider.opened > COOLDOWN:
            provider.circuit = "probing"
            return "probe"
        return ""

    def _circuit_failed(self, provider: Provider, passage: str, error: str) -> None:
        if error in OF_KEYS or error in ("POLICY", "VALIDATION"):
            if passage == "probe":
                provider.circuit = "open"
        elif passage == "probe":
            provider.circuit, provider.opened, provider.row = "open", self.now, 0
        elif provider.circuit == "closed" and self.circuit_failures:
            provider.row += 1
            if provider.row >= self.circuit_failures:
                provider.circuit, provider.opened, provider.row = "open", self.now, 0
