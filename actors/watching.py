"""Noticing who looks whether an answer is there: where one actor gives it, another may go another way for that.

Rules. A future is watched by a change of its class, to one that tells its dispatcher of each look at `done`, and of
each answer that comes too late: it looks, too. It stays what it was in every other respect.

Not promised: to notice who learns of an answer in another way than by `done`; whoever is called back is told by the
step that gives the answer.
"""

from __future__ import annotations

import abc
from typing import Any

from .futures import Future

__all__ = ["Watcher", "watch"]


class Watcher(abc.ABC):
    """A dispatcher that wants to know."""

    @abc.abstractmethod
    def looked_at(self, future: Future[Any]) -> None:
        """Somebody looks whether an answer is there."""


class _Watched(Future[Any]):
    __slots__ = ()

    @property
    def done(self) -> bool:
        self._is_looked_at()
        return super().done

    @done.setter
    def done(self, value: bool) -> None:
        slot: Any = vars(Future)["done"]
        slot.__set__(self, value)

    def settle(self, value: Any, error: BaseException | None) -> bool:
        settles = super().settle(value, error)
        if not settles:
            self._is_looked_at()
        return settles

    def _is_looked_at(self) -> None:
        dispatcher: object = self.dispatcher
        if isinstance(dispatcher, Watcher):
            dispatcher.looked_at(self)


_KINDS: dict[type, type] = {}


def watch(future: Future[Any]) -> None:
    """Tell the dispatcher of this future, which is a `Watcher`, of each look at it."""
    kind = type(future)
    if kind not in _KINDS:
        _KINDS[kind] = type(f"Watched{kind.__name__}", (_Watched, kind), {"__slots__": ()})
    future.__class__ = _KINDS[kind]
