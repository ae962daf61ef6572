"""Turns, and their projection into a prompt (C3.2, C2 "HistoryRead")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NoReturn

import attrs

from .redaction import redacted

__all__ = ["ELLIPSIS", "ChatMessage", "Turn", "TurnRun", "chat_messages", "cut", "project", "turn_name"]

ELLIPSIS = "…"
_SENTENCE_MARKS = ".!?"
_LINE_BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


@attrs.frozen(weakref_slot=False)
class Turn:
    """One finally accepted logical parent (C2 "ConversationTurn").

    `user` is its clean source, `assistant` the accepted clean translation. `content_ref` leads to the content entry of
    the translation, where there is one and somebody asked for it; a turn is the same turn with and without.
    """

    request_id: str
    parent_id: str
    user: str = attrs.field(repr=redacted)
    assistant: str = attrs.field(repr=redacted)
    content_ref: str | None = attrs.field(default=None, eq=False)


@attrs.frozen
class TurnRun:
    """Turns of one request that follow one another, as columns: hardly one of them is ever read as a turn.

    A run of accepted parents is committed as a whole, and a session keeps the newest few turns of it.
    """

    request_id: str
    parent_ids: tuple[str, ...]
    users: tuple[str, ...] = attrs.field(repr=redacted)
    assistants: tuple[str, ...] = attrs.field(repr=redacted)

    @classmethod
    def of(cls, turn: Turn) -> TurnRun:
        """The run of one turn."""
        return cls(turn.request_id, (turn.parent_id,), (turn.user,), (turn.assistant,))

    def __len__(self) -> int:
        return len(self.parent_ids)

    def __iter__(self) -> Iterator[Turn]:
        for column in zip(self.parent_ids, self.users, self.assistants, strict=True):
            yield Turn(self.request_id, *column)

    def newest(self, count: int) -> TurnRun:
        """The last `count` turns, or all if there are not so many."""
        start = len(self.parent_ids) - count
        if start <= 0:
            return self
        return TurnRun(self.request_id, self.parent_ids[start:], self.users[start:], self.assistants[start:])

    def at(self, places: Sequence[int]) -> TurnRun:
        """The turns at these places."""

        def of_column(column: tuple[str, ...]) -> tuple[str, ...]:
            return tuple([column[place] for place in places])

        return TurnRun(self.request_id, *map(of_column, (self.parent_ids, self.users, self.assistants)))


def turn_name(request_id: str, parent_id: str) -> str:
    """`REQUEST/PARENT`, the name by which the content of a turn is looked up."""
    return f"{request_id}/{parent_id}"


class ChatMessage(dict[str, str]):
    """One message of a chat prompt: a read-only dict `{"role": …, "content": …}`, as OpenAI-style clients take it.

    Its `repr` shows the length of the content only.
    """

    def __init__(self, role: str, content: str) -> None:
        super().__init__(role=role, content=content)

    @property
    def role(self) -> str:
        """`system`, `user` or `assistant`."""
        return self["role"]

    @property
    def content(self) -> str:
        return self["content"]

    def __repr__(self) -> str:
        return f"ChatMessage(role={self.role!r}, content={redacted(self.content)})"

    def __reduce__(self) -> tuple[type[ChatMessage], tuple[str, str]]:
        return ChatMessage, (self.role, self.content)

    def _read_only(self, *_args: object, **_kwargs: object) -> NoReturn:
        raise TypeError("a ChatMessage is read-only")

    __setitem__ = __delitem__ = _read_only
    clear = pop = popitem = setdefault = update = _read_only
    __ior__ = _read_only


def _longest_sentence(text: str, longest: int) -> int:
    """The length of the longest prefix, up to `longest`, that ends a sentence or a line; 0 if none does."""
    for length in range(longest, 0, -1):
        following = text[length]
        if following in _LINE_BREAKS or (text[length - 1] in _SENTENCE_MARKS and following.isspace()):
            return length
    return 0


def _longest_words(text: str, longest: int) -> int:
    """The length of the longest prefix, up to `longest`, that stands before white space; 0 if none does."""
    for length in range(longest, 0, -1):
        if text[length].isspace():
            return length
    return 0


def cut(text: str, limit: int | None) -> str:
    """`text` within `limit` characters, the ellipsis counted; None is no limit.

    A text that fits is left as it is. Else it is cut at the end of a sentence or line if that keeps at least three
    quarters of the limit, else at the last white space, else hard; outer white space goes.
    """
    if limit is None or len(text) <= limit:
        return text
    if limit == 0:
        return ""
    longest = limit - 1
    length = _longest_sentence(text, longest)
    if 4 * length < 3 * limit:
        length = _longest_words(text, longest) or longest
    return text[:length].strip() + ELLIPSIS


def project(turns: Iterable[Turn], max_turns: int, max_chars: int | None) -> tuple[Turn, ...]:
    """The newest `max_turns` of `turns`, oldest first, each side cut to `max_chars` characters."""
    newest = tuple(turns)
    newest = newest[max(0, len(newest) - max_turns) :]
    if max_chars is None:
        return newest
    return tuple(
        attrs.evolve(turn, user=cut(turn.user, max_chars), assistant=cut(turn.assistant, max_chars)) for turn in newest
    )


def chat_messages(turns: Sequence[Turn], system: str | None, user: str | None) -> tuple[ChatMessage, ...]:
    """A chat prompt: the system prompt, the turns as user and assistant messages, the new user message.

    The runtime keeps no system prompt (C14); None leaves that message out.
    """
    messages = [] if system is None else [ChatMessage("system", system)]
    for turn in turns:
        messages += [ChatMessage("user", turn.user), ChatMessage("assistant", turn.assistant)]
    if user is not None:
        messages.append(ChatMessage("user", user))
    return tuple(messages)
