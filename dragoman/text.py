"""A feature of plain texts in memory (C3.3): the parents of a request, as the application shows them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from .protocol.features import DispatchFailed, ParentRefused

__all__ = ["TextDocument"]


class _Node:
    """One text of a document, with the translation that is to take its place."""

    __slots__ = ("_before", "_place", "_texts", "_translation")

    def __init__(self, texts: list[str], place: int, translation: str) -> None:
        self._texts = texts
        self._place = place
        self._translation = translation
        self._before = ""

    def apply(self) -> None:
        self._before = self._texts[self._place]
        self._texts[self._place] = self._translation

    def undo(self) -> None:
        self._texts[self._place] = self._before


class TextDocument:
    """Texts by the ids of their parents: a text, or a list of segments. Shows the source until a parent is accepted.

    `refuse` names parents that are not accepted. With `by_hand` nothing is applied by itself: the application accepts
    each parent with `accept`. A parent that was edited meanwhile can no longer be applied.
    """

    def __init__(
        self,
        parents: Mapping[str, str | Iterable[str]],
        *,
        document: str = "text",
        refuse: Collection[str] = (),
        by_hand: bool = False,
    ) -> None:
        self.document = document
        self.by_hand = by_hand
        self._texts = {name: [text] if isinstance(text, str) else list(text) for name, text in parents.items()}
        self._scalar = {name for name, text in parents.items() if isinstance(text, str)}
        self._refuse = frozenset(refuse)
        self._edited: set[str] = set()
        self._undeliverable = False

    def dispatch(self, parent_id: str, segments: tuple[str, ...]) -> list[_Node] | None:
        if self._undeliverable:
            raise DispatchFailed
        texts = self._texts.get(parent_id)
        if texts is None or parent_id in self._refuse or parent_id in self._edited or len(texts) != len(segments):
            raise ParentRefused
        if self.by_hand:
            return None
        return [_Node(texts, place, translation) for place, translation in enumerate(segments)]

    def accept(self, parent_id: str, text: str) -> None:
        """Show `text` for a parent that was accepted by hand."""
        self._texts[parent_id] = [text]

    def edit(self, parent_id: str, text: str | Iterable[str]) -> None:
        """The application changes its own copy of a parent; `KeyError` if there is none of that id."""
        if parent_id not in self._texts:
            raise KeyError(parent_id)
        self._edited.add(parent_id)
        self._texts[parent_id] = [text] if isinstance(text, str) else list(text)
        (self._scalar.add if isinstance(text, str) else self._scalar.discard)(parent_id)

    def close(self) -> None:
        """The application can take nothing more: what comes from now on cannot be dispatched."""
        self._undeliverable = True

    @property
    def parents(self) -> dict[str, str | tuple[str, ...]]:
        """Every parent as it is shown now, as a `TranslationRequest` takes it."""
        return {
            parent_id: texts[0] if parent_id in self._scalar else tuple(texts)
            for parent_id, texts in self._texts.items()
        }

    def __getitem__(self, parent_id: str) -> str | list[str]:
        texts = self._texts[parent_id]
        return texts[0] if parent_id in self._scalar else list(texts)

    def texts(self) -> dict[str, str | list[str]]:
        """Every parent as it is shown now."""
        return {parent_id: self[parent_id] for parent_id in self._texts}

    def __repr__(self) -> str:
        return f"<TextDocument of {len(self._texts)} parents>"
