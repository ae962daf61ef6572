"""The life of an execution as a table (C8, C9, C10): the first cause ends it and is the only outcome."""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType

from .failures import SHUT_DOWN, TRANSLATION_TIMEOUT, USER_CANCELLED
from .statuses import CloseCause

__all__ = ["ENDS_FROM_OUTSIDE", "EXECUTION_TABLE", "ExecutionEvent", "ExecutionState"]


class ExecutionState(StrEnum):
    RUNNING = "RUNNING"
    """Calls may be open or due."""
    COMPLETED = "COMPLETED"
    """Every batch is over, and a parent was translated."""
    FAILED = "FAILED"
    """No parent was translated, or time was over."""
    CANCELLED = "CANCELLED"
    """Cancelled, or ended with the runtime."""


class ExecutionEvent(StrEnum):
    """`COMPLETE`: every batch is over and a parent was translated. `FAIL`: every batch is over and none was."""

    COMPLETE = "COMPLETE"
    FAIL = "FAIL"
    TIME_OUT = "TIME_OUT"
    CANCEL = "CANCEL"


_S, _E = ExecutionState, ExecutionEvent

EXECUTION_TABLE = MappingProxyType(
    {
        _S.RUNNING: MappingProxyType(
            {_E.COMPLETE: _S.COMPLETED, _E.FAIL: _S.FAILED, _E.TIME_OUT: _S.FAILED, _E.CANCEL: _S.CANCELLED}
        ),
        _S.COMPLETED: MappingProxyType({}),
        _S.FAILED: MappingProxyType({}),
        _S.CANCELLED: MappingProxyType({}),
    }
)
"""An event in a terminal state does nothing: late settlement is dropped."""

ENDS_FROM_OUTSIDE = MappingProxyType(
    {
        CloseCause.CANCELLED: (_E.CANCEL, USER_CANCELLED),
        CloseCause.TIMED_OUT: (_E.TIME_OUT, TRANSLATION_TIMEOUT),
        CloseCause.SHUT_DOWN: (_E.CANCEL, SHUT_DOWN),
    }
)
"""What ends an execution before its time: the event, and the error that its outcome tells."""
