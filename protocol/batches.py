"""One batch through its attempts (C5, C6, C7, C12): what is asked next, given what was answered.

An attempt asks for all units of the batch. A violating answer is followed by exactly one recovery pass, a failed call
by the next key while there is one. What neither mends fails the attempt, and the error's row says whether another one
is due. Nothing of a failed attempt is kept.

No clock, no I/O: the operation makes the calls and keeps the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from types import MappingProxyType

import attrs

from .calls import Completion
from .errors import IllegalTransition
from .failures import API_RESPONSE_INVALID, KEY_ERRORS, POLICY, TEXT_TOO_LONG, attempts_for
from .outcomes import Diagnostic, DiagnosticCode
from .participation import ProviderPolicy
from .statuses import CallFormat, Termination
from .units import Unit
from .verdicts import Verdict, Violation, judge

__all__ = ["BATCH_TABLE", "Ask", "BatchEvent", "BatchRun", "BatchState", "Failed", "Resolved", "Retry"]


class BatchState(StrEnum):
    """Where a batch stands."""

    QUEUED = "QUEUED"
    """Waits for a free call."""
    PRIMARY = "PRIMARY"
    """Its units are asked for."""
    SELECTIVE_RECOVERY = "SELECTIVE_RECOVERY"
    """The invalid units are asked for again."""
    FULL_RECOVERY = "FULL_RECOVERY"
    """All units are asked for again."""
    WAITING = "WAITING"
    """Back-off before the next attempt."""
    RESOLVED = "RESOLVED"
    """Every unit has its text."""
    FAILED = "FAILED"
    """No attempt is left."""


class BatchEvent(StrEnum):
    START = "START"
    RECOVER_SELECTIVELY = "RECOVER_SELECTIVELY"
    RECOVER_FULLY = "RECOVER_FULLY"
    RETRY = "RETRY"
    RESOLVE = "RESOLVE"
    FAIL = "FAIL"


_S, _E = BatchState, BatchEvent
_ENDS = {_E.RETRY: _S.WAITING, _E.RESOLVE: _S.RESOLVED, _E.FAIL: _S.FAILED}

BATCH_TABLE = MappingProxyType(
    {
        _S.QUEUED: MappingProxyType({_E.START: _S.PRIMARY, _E.FAIL: _S.FAILED}),
        _S.PRIMARY: MappingProxyType(
            {_E.RECOVER_SELECTIVELY: _S.SELECTIVE_RECOVERY, _E.RECOVER_FULLY: _S.FULL_RECOVERY, **_ENDS}
        ),
        _S.SELECTIVE_RECOVERY: MappingProxyType(_ENDS),
        _S.FULL_RECOVERY: MappingProxyType(_ENDS),
        _S.WAITING: MappingProxyType({_E.START: _S.PRIMARY}),
        _S.RESOLVED: MappingProxyType({}),
        _S.FAILED: MappingProxyType({}),
    }
)


@attrs.frozen
class Ask:
    """A call to make. `key` is None for the key of the provider that last succeeded."""

    units: tuple[Unit, ...]
    format: CallFormat
    recovers: bool
    key: int | None = None
    repair: tuple[tuple[str, Violation], ...] = ()


@attrs.frozen
class Resolved:
    """Every unit has its text. `recovered` if it took a recovery pass."""

    pieces: tuple[tuple[str, tuple[str, ...]], ...] = attrs.field(repr=False)
    recovered: bool


@attrs.frozen
class Retry:
    """Another attempt is due, after the back-off that belongs to the one which failed, or when the provider allows."""

    failed_attempt: int
    retry_after_us: int | None = None


@attrs.frozen
class Failed:
    """No attempt is left."""

    error: str


Step = Ask | Resolved | Retry | Failed


class BatchRun:
    """One batch of a request; see the module."""

    __slots__ = (
        "_direct",
        "_kept",
        "_policy",
        "_queue",
        "_repair",
        "_token",
        "_tried",
        "attempt",
        "failed_over",
        "notes",
        "number",
        "open_ask",
        "state",
        "units",
        "verdict",
    )

    def __init__(
        self, number: int, units: tuple[Unit, ...], *, token: str, policy: ProviderPolicy, direct: bool
    ) -> None:
        self.number = number
        self.units = units
        self.attempt = 0
        self.state = BatchState.QUEUED
        self.failed_over = False
        self.open_ask: Ask | None = None
        self.notes: list[Diagnostic] = []
        """What happened since the operation last took the notes."""
        self.verdict: Verdict | None = None
        """What was right and wrong with the newest answer, until somebody takes it."""
        self._token = token
        self._policy = policy
        self._direct = direct
        self._tried: list[int] = []
        self._kept: dict[str, tuple[str, ...]] = {}
        self._queue: list[Unit] = []
        self._repair: dict[str, Violation] = {}

    def start(self) -> Ask | Failed:
        """Begin the next attempt, from nothing."""
        limit = self._policy.max_chars
        if limit is not None and any(unit.chars > limit for unit in self.units):
            self._move(BatchEvent.FAIL)
            return self._failed_for_good(TEXT_TOO_LONG)
        self._move(BatchEvent.START)
        self.attempt += 1
        return self._ask(self.units, self._primary_format, recovers=False)

    def placed(self, key: int) -> None:
        """The open call went out with that key."""
        if self._tried:
            self.failed_over = True
        self._tried.append(key)

    def answered(self, completion: Completion) -> Step:
        """What follows from the answer to the open call."""
        ask = self._asked()
        self.verdict = verdict = judge(ask.format, ask.units, self._token, completion.text, completion.texts)
        self._note_verdict(verdict)
        refused = completion.termination is Termination.POLICY
        if verdict.good:
            self._kept.update(verdict.valid)
            return self._next_scalar() if self._queue else self._resolved(recovered=ask.recovers)
        if ask.recovers or refused or self._policy.kind == "machine":
            return self._attempt_failed(POLICY if refused else API_RESPONSE_INVALID)
        return self._recover(verdict)

    def failed(self, error: str, retry_after_us: int | None = None) -> Step:
        """What follows from the failure of the open call; `retry_after_us` is the wait that the provider asked for."""
        ask = self._asked()
        self._note(DiagnosticCode.CALL_FAILED, detail=error)
        if error in KEY_ERRORS and 0 < len(self._tried) < self._policy.keys:
            key = self._tried[-1] % self._policy.keys + 1
            self._note(DiagnosticCode.FAILOVER, detail=error)
            self.open_ask = attrs.evolve(ask, key=key)
            return self.open_ask
        return self._attempt_failed(error, retry_after_us)

    def take_verdict(self) -> Verdict | None:
        """The verdict on the newest answer, which is not kept; None after a failed call."""
        verdict, self.verdict = self.verdict, None
        return verdict

    def take_notes(self) -> Sequence[Diagnostic]:
        notes, self.notes = self.notes, []
        return notes

    @property
    def _primary_format(self) -> CallFormat:
        if self._policy.kind == "machine":
            return CallFormat.TEXTS
        return CallFormat.SCALAR if self._direct else CallFormat.STRUCTURED

    def _recover(self, verdict: Verdict) -> Ask:
        """The one recovery pass of this attempt: selective where the mapping can be trusted, else full (C5)."""
        selective = self._policy.recovery == "selective" and bool(verdict.valid)
        self._note(DiagnosticCode.RECOVERY_STARTED, detail="selective" if selective else "full")
        if selective:
            self._move(BatchEvent.RECOVER_SELECTIVELY)
            self._kept = dict(verdict.valid)
            invalid = {unit_id for unit_id, _violation in verdict.invalid}
            units = tuple(unit for unit in self.units if unit.id in invalid)
            return self._ask(units, CallFormat.STRUCTURED, recovers=True, repair=verdict.invalid)
        self._move(BatchEvent.RECOVER_FULLY)
        self._queue = list(reversed(self.units))
        self._repair = dict(verdict.invalid)
        return self._next_scalar()

    def _next_scalar(self) -> Ask:
        unit = self._queue.pop()
        violation = self._repair.get(unit.id)
        repair = () if violation is None else ((unit.id, violation),)
        return self._ask((unit,), CallFormat.SCALAR, recovers=True, repair=repair)

    def _ask(
        self,
        units: tuple[Unit, ...],
        wanted: CallFormat,
        *,
        recovers: bool,
        repair: tuple[tuple[str, Violation], ...] = (),
    ) -> Ask:
        self._tried = []
        self.open_ask = Ask(units, wanted, recovers, repair=repair)
        return self.open_ask

    def _asked(self) -> Ask:
        ask, self.open_ask = self.open_ask, None
        if ask is None:
            raise IllegalTransition(self.state, "an answer")
        return ask

    def _resolved(self, *, recovered: bool) -> Resolved:
        self._move(BatchEvent.RESOLVE)
        if recovered:
            self._note(DiagnosticCode.RECOVERED)
        pieces = tuple((unit.id, self._kept[unit.id]) for unit in self.units)
        self._release()
        return Resolved(pieces, recovered)

    def _attempt_failed(self, error: str, retry_after_us: int | None = None) -> Retry | Failed:
        if self.state in (BatchState.SELECTIVE_RECOVERY, BatchState.FULL_RECOVERY):
            self._note(DiagnosticCode.RECOVERY_FAILED, detail=error)
        self._release()
        if self.attempt < attempts_for(error):
            self._move(BatchEvent.RETRY)
            self._note(DiagnosticCode.RETRIED, detail=error)
            return Retry(self.attempt, retry_after_us)
        self._move(BatchEvent.FAIL)
        return self._failed_for_good(error)

    def _failed_for_good(self, error: str) -> Failed:
        self._note(DiagnosticCode.BATCH_FAILED, detail=error)
        return Failed(error)

    def _release(self) -> None:
        self._kept, self._queue, self._repair = {}, [], {}

    def _move(self, event: BatchEvent) -> None:
        following = BATCH_TABLE[self.state].get(event)
        if following is None:
            raise IllegalTransition(self.state, event)
        self.state = following

    def _note_verdict(self, verdict: Verdict) -> None:
        if verdict.repaired:
            self._note(DiagnosticCode.REPAIRED)
        if verdict.unsafe is not None:
            self._note(DiagnosticCode.VIOLATION, detail=verdict.unsafe.value)
            return
        for unit_id, violation in verdict.invalid:
            self.notes.append(Diagnostic(DiagnosticCode.VIOLATION, unit_id, violation.value))

    def _note(self, code: DiagnosticCode, *, detail: str | None = None) -> None:
        self.notes.append(Diagnostic(code, f"batch {self.number}", detail))
