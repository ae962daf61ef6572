"""Planted faults of the execution part, to check the checkers with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import pytest

from dragoman.actors.boundary import Dispatched, FeatureBoundary
from dragoman.actors.delivery import Delivery
from dragoman.actors.direct import DirectCommit
from dragoman.actors.gateway import ProviderGateway
from dragoman.actors.ledger import Ledger
from dragoman.actors.operation import TranslationOperation
from dragoman.actors.outside import MakeCalls
from dragoman.actors.sessions import SessionManager
from dragoman.protocol import batches, failures, verdicts
from dragoman.protocol.batches import Ask, BatchRun, BatchState, Retry
from dragoman.protocol.circuits import Circuit, Passage
from dragoman.protocol.drafts import draft
from dragoman.protocol.execution_messages import ClaimTurns, CountError, SettleParents
from dragoman.protocol.executions import ENDS_FROM_OUTSIDE, ExecutionState
from dragoman.protocol.history import project
from dragoman.protocol.progress import Progress
from dragoman.protocol.schedule import Schedule
from dragoman.protocol.statuses import CloseCause
from dragoman.protocol.units import Gap, ParentPlan
from dragoman.protocol.verdicts import Verdict, Violation

from ..planting import Mutants, replace_handler

MUTANTS = Mutants()
mutant = MUTANTS.add


@mutant
def reuses_the_valid_units_of_a_failed_attempt(patch: pytest.MonkeyPatch) -> None:
    remembered: dict[tuple[str, str], tuple[str, ...]] = {}
    judge = verdicts.judge

    def lenient(form: Any, units: Any, token: str, text: Any, texts: Any) -> Verdict:
        verdict = judge(form, units, token, text, texts)
        remembered.update({(token, unit): pieces for unit, pieces in verdict.valid.items()})
        valid = {unit.id: remembered[token, unit.id] for unit in units if (token, unit.id) in remembered}
        invalid = tuple(entry for entry in verdict.invalid if entry[0] not in valid)
        return attrs.evolve(verdict, valid=valid, invalid=invalid)

    patch.setattr(batches, "judge", lenient)


@mutant
def maps_by_position(patch: pytest.MonkeyPatch) -> None:
    judge_items = verdicts._judge_items

    def by_position(units: Any, token: str, parsed: Any) -> Verdict:
        if parsed is None or len(parsed.items) != len(units):
            return judge_items(units, token, parsed)
        named = [attrs.evolve(item, id=unit.id) for unit, item in zip(units, parsed.items, strict=True)]
        return judge_items(units, token, attrs.evolve(parsed, items=tuple(named), doubled=False))

    patch.setattr(verdicts, "_judge_items", by_position)


@mutant
def commits_a_recovery(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(DirectCommit, "follow", lambda _self, _step: None)


@mutant
def retries_after_a_cancel(patch: pytest.MonkeyPatch) -> None:
    stop = TranslationOperation._stop_everything

    def tireless(self: TranslationOperation, over: Any) -> None:
        stop(self, over)
        waiting = [batch for batch in self._schedule.batches if batch.state is BatchState.WAITING]
        if self._state is ExecutionState.CANCELLED and waiting:
            asks: list[Any] = [(batch, batch.start()) for batch in waiting]
            calls = tuple(draft(self._plan, self._token, (), *ask) for ask in asks)
            make = MakeCalls(calls, self._schedule.made + 1, self.mailbox, self._provider)
            self._addresses.gateway.tell(make)

    patch.setattr(TranslationOperation, "_stop_everything", tireless)


@mutant
def reports_a_timeout_as_a_cancellation(patch: pytest.MonkeyPatch) -> None:
    ends = {**ENDS_FROM_OUTSIDE, CloseCause.TIMED_OUT: ENDS_FROM_OUTSIDE[CloseCause.CANCELLED]}
    patch.setattr("dragoman.actors.operation.ENDS_FROM_OUTSIDE", ends)


@mutant
def fills_a_missing_unit_from_the_source(patch: pytest.MonkeyPatch) -> None:
    judge_item = verdicts._judge_item

    def generous(unit: Any, token: str, item: Any) -> Any:
        found = judge_item(unit, token, item)
        return unit.pieces if found is Violation.MISSING else found

    patch.setattr(verdicts, "_judge_item", generous)


@mutant
def joins_fragments_in_arrival_order(patch: pytest.MonkeyPatch) -> None:
    assemble = ParentPlan.assemble

    def as_they_came(self: ParentPlan, results: Mapping[str, Any]) -> tuple[str, ...]:
        arrived = iter(tuple(results.values()))
        same = len({len(pieces) for pieces in results.values()}) == 1
        return assemble(self, {unit.id: next(arrived) for unit in self.units} if same else results)

    patch.setattr(ParentPlan, "assemble", as_they_came)


@mutant
def loses_the_white_space_of_a_cut(patch: pytest.MonkeyPatch) -> None:
    assemble = ParentPlan.assemble

    def close_up(self: ParentPlan, results: Mapping[str, Any]) -> tuple[str, ...]:
        layout = tuple(part for part in self.layout if not isinstance(part, Gap))
        return assemble(attrs.evolve(self, layout=layout), results)

    patch.setattr(ParentPlan, "assemble", close_up)


@mutant
def acknowledges_what_the_feature_refused(patch: pytest.MonkeyPatch) -> None:
    dispatch = FeatureBoundary.dispatch

    def blind(self: FeatureBoundary, *values: Any) -> tuple[Dispatched, str]:
        found, word = dispatch(self, *values)
        return (Dispatched.APPLIED if found is Dispatched.REFUSED else found), word

    patch.setattr(FeatureBoundary, "dispatch", blind)


@mutant
def takes_no_lane(patch: pytest.MonkeyPatch) -> None:
    def rude(self: TranslationOperation, event: Any) -> None:
        if not self._over:
            self._events.append(event)
            if self._asked is None and self._lane is None:
                self._work()

    patch.setattr(TranslationOperation, "_take", rude)


@mutant
def takes_the_next_event_before_its_calls(patch: pytest.MonkeyPatch) -> None:
    make_calls = TranslationOperation._make_calls

    def hasty(self: TranslationOperation) -> bool:
        return not self._events and make_calls(self)

    patch.setattr(TranslationOperation, "_make_calls", hasty)


@mutant
def takes_a_late_answer_for_the_next_attempt(patch: pytest.MonkeyPatch) -> None:
    placed, answer_call = Schedule.placed, TranslationOperation._answer_call
    batch_of: dict[tuple[int, int], BatchRun] = {}

    def noted(self: Schedule, batch: BatchRun, number: int, key: int) -> None:
        batch_of[id(self), number] = batch
        placed(self, batch, number, key)

    def unfenced(self: TranslationOperation, message: Any, envelope: Any) -> None:
        batch = batch_of.get((id(self._schedule), message.number))
        now = [number for number, one in self._schedule._calls.items() if one is batch]
        answer_call(self, attrs.evolve(message, number=now[0]) if now else message, envelope)

    patch.setattr(Schedule, "placed", noted)
    patch.setattr(TranslationOperation, "_answer_call", unfenced)


@mutant
def ignores_the_circuit(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Circuit, "enter", lambda _self, _now_us: Passage.CALL)


@mutant
def tries_the_keys_from_the_first_again(patch: pytest.MonkeyPatch) -> None:
    failed = BatchRun.failed

    def restart(self: BatchRun, error: str) -> Any:
        step = failed(self, error)
        if isinstance(step, Ask):
            step = self.open_ask = attrs.evolve(step, key=min({1, 2, 3} - set(self._tried)))
        return step

    patch.setattr(BatchRun, "failed", restart)


@mutant
def forgets_which_key_succeeded(patch: pytest.MonkeyPatch) -> None:
    settle = ProviderGateway._settle

    def forgetful(self: ProviderGateway, *values: Any) -> Any:
        ended = settle(self, *values)
        for provider in self._providers.values():
            provider.key = 1
        return ended

    patch.setattr(ProviderGateway, "_settle", forgetful)


@mutant
def rejects_nobody_for_a_failed_batch(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Delivery, "unresolved", lambda _self, _parent_id: None)


@mutant
def rejects_what_an_execution_that_failed_leaves_pending(patch: pytest.MonkeyPatch) -> None:
    def strict(self: TranslationOperation, batch: BatchRun) -> None:
        for parent_id in self._parents.fail(batch.units):
            self._delivery.unresolved(parent_id)
        self._delivery.everything_dispatched = self._parents.dispatchable

    patch.setattr(TranslationOperation, "_batch_failed", strict)


@mutant
def reads_the_history_anew_for_each_batch(patch: pytest.MonkeyPatch) -> None:
    make_calls = TranslationOperation._make_calls

    def curious(self: TranslationOperation) -> bool:
        sessions: Any = self._addresses.sessions.actor
        session = sessions._sessions.get(self._plan.handoff.session_id)
        if self._takes_part and session is not None:
            self._history = project(session.turns, 3, None)
        return make_calls(self)

    patch.setattr(TranslationOperation, "_make_calls", curious)


@mutant
def shows_the_history_to_a_recovery(patch: pytest.MonkeyPatch) -> None:
    def open_hearted(plan: Any, token: str, history: Any, batch: BatchRun, ask: Ask) -> Any:
        return attrs.evolve(draft(plan, token, history, batch, ask), history=history)

    patch.setattr("dragoman.actors.operation.draft", open_hearted)


@mutant
def claims_a_turn_for_a_recovery(patch: pytest.MonkeyPatch) -> None:
    calls_made = TranslationOperation._calls_made

    def greedy(self: TranslationOperation, made: Any) -> None:
        recoveries = sum(ask.recovers for _batch, ask in self._placing)
        calls_made(self, made)
        if recoveries and self._takes_part:
            self._addresses.sessions.tell(ClaimTurns(self._plan.handoff.session_id, self._incarnation, recoveries))

    patch.setattr(TranslationOperation, "_calls_made", greedy)


@mutant
def holds_its_place_while_it_waits_for_a_retry(patch: pytest.MonkeyPatch) -> None:
    take = Schedule.take

    def hold(self: Schedule, batch: BatchRun, step: Any) -> Any:
        if isinstance(take(self, batch, step), Retry):
            self._holding.add(batch.number)
        return step

    patch.setattr(Schedule, "take", hold)


@mutant
def gives_its_place_away_while_it_recovers(patch: pytest.MonkeyPatch) -> None:
    take = Schedule.take

    def give(self: Schedule, batch: BatchRun, step: Any) -> Any:
        if isinstance(take(self, batch, step), Ask):
            self._holding.discard(batch.number)
        return step

    patch.setattr(Schedule, "take", give)


@mutant
def recovers_a_second_time(patch: pytest.MonkeyPatch) -> None:
    answered = BatchRun.answered
    once: set[tuple[int, int]] = set()

    def again(self: BatchRun, completion: Any) -> Any:
        ask = self.open_ask
        if ask is not None and ask.recovers and (id(self), self.attempt) not in once:
            once.add((id(self), self.attempt))
            verdict = verdicts.judge(ask.format, ask.units, self._token, completion.text, completion.texts)
            if not verdict.good:
                self._tried = []
                return ask
        return answered(self, completion)

    patch.setattr(BatchRun, "answered", again)


@mutant
def retries_what_a_policy_refused(patch: pytest.MonkeyPatch) -> None:
    attempts_for = failures.attempts_for
    patch.setattr(batches, "attempts_for", lambda error: 2 if error == "POLICY" else attempts_for(error))


@mutant
def leaves_its_calls_open(patch: pytest.MonkeyPatch) -> None:
    replace_handler(patch, ProviderGateway, "CancelCalls", lambda _original, _self, _message, _envelope: None)


@mutant
def counts_a_cancelled_call_as_an_error(patch: pytest.MonkeyPatch) -> None:
    def count(original: Any, self: ProviderGateway, message: Any, envelope: Any) -> None:
        for number in message.numbers:
            opened = self._open.get((message.request_id, number))
            if opened is not None:
                self._statistics.tell(CountError(opened.provider))
        original(self, message, envelope)

    replace_handler(patch, ProviderGateway, "CancelCalls", count)


@mutant
def penalises_a_provider_for_a_cancel(patch: pytest.MonkeyPatch) -> None:
    ended = Circuit.ended

    def blame(self: Circuit, passage: Passage) -> None:
        if passage is Passage.CALL:
            self.failed(passage, "NETWORK_ERROR", 0)
        ended(self, passage)

    patch.setattr(Circuit, "ended", blame)


@mutant
def commits_into_a_session_that_was_made_anew(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SessionManager, "_same", lambda self, message: self._sessions.get(message.session_id))


@mutant
def starts_no_window(patch: pytest.MonkeyPatch) -> None:
    next_question = Delivery.next_question

    def lazy(self: Delivery) -> Any:
        asked = next_question(self)
        if asked is not None and isinstance(asked[1], SettleParents):
            return asked[0], attrs.evolve(asked[1], activate=False)
        return asked

    patch.setattr(Delivery, "next_question", lazy)


@mutant
def frees_the_id_of_an_execution(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Ledger, "executed", lambda _self, _request_id: None)


@mutant
def lets_a_machine_take_part(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        "dragoman.actors.session_operations.participates",
        lambda **facts: facts["history_enabled"] and bool(facts["session_id"]),
    )


@mutant
def leaves_its_timers(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(TranslationOperation, "cancel_timer", lambda _self, _key: None)
    patch.setattr(TranslationOperation, "retired", lambda _self: None)


@mutant
def completes_a_parent_that_has_failed(patch: pytest.MonkeyPatch) -> None:
    fail = Progress.fail

    def forgiving(self: Progress, units: Any) -> tuple[str, ...]:
        failed = fail(self, units)
        for parent_id in failed:
            place = next(place for place, plan in enumerate(self._plans) if plan.id == parent_id)
            if len(self._plans[place].units) > 1:
                del self.unresolved[parent_id]
                self._missing[place] -= 1
                self._fragments[place] = {unit.id: unit.pieces for unit in units if unit.parent_id == parent_id}
        return failed

    patch.setattr(Progress, "fail", forgiving)
