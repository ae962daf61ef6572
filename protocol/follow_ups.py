"""Follow-ups: which earlier call the words of a user mean (P phase 2, language page "Follow-ups").

Fixed rules over the call records of a session, so that the same words always mean the same call. A literal ref wins,
then the id of a call; else a word must refer back: an ordinal, a relative word, or the name of a role or method right
before a word for a result. Names of roles and methods narrow the choice, which is among successful depth-0 calls.
Nothing is understood beyond that: no grammar, no negation, no other form of a word. Whether the content of the chosen
call is still held is not asked here.

A word is a maximal run of the letters, digits and underscores of `say`. It is found before it is folded, because
folding may put a combining mark, which is no part of a word, in the middle of one.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from enum import StrEnum
from types import MappingProxyType

import attrs

from .records import CallRecord
from .statuses import CallStatus, FollowUpDecision, LowUtility

__all__ = ["Choice", "Intent", "Trace", "choose", "decide", "names_a_ref"]

_REF = re.compile(r"(?<!\w)content:[A-Za-z0-9_-]+")
_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"\w+|\W")

_ORDINALS = MappingProxyType(
    {
        "first": 1,
        "second": 2,
        "third": 3,
        "fourth": 4,
        "fifth": 5,
        "sixth": 6,
        "seventh": 7,
        "eighth": 8,
        "ninth": 9,
        "tenth": 10,
    }
)
_RELATIVES = frozenset({"last", "previous", "prior", "earlier", "that", "above", "again"})
_RESULTS = frozenset({"answer", "result", "reply", "response", "output", "explanation"})
_METADATA = MappingProxyType({"how": "long", "what": "kind", "which": "role", "when": None})
_OPENINGS = MappingProxyType({"tell": "me", "please": None, "and": None, "so": None})
"""Words with the word that must follow each, if one must."""


class Intent(StrEnum):
    """What in the words refers to something earlier, the stronger first."""

    LITERAL_REF = "LITERAL_REF"
    """A content ref stands in the words."""
    CALL_ID = "CALL_ID"
    """The id of a call does."""
    ORDINAL = "ORDINAL"
    """"first" to "tenth"."""
    RELATIVE = "RELATIVE"
    """"last", "previous", "that" and their like."""
    NAMED_RESULT = "NAMED_RESULT"
    """A role or method right before a word for a result."""
    NONE = "NONE"
    """Nothing does."""


@attrs.frozen
class Trace:
    """Why a choice is as it is, without any text of `say` (P phase 2, exit criterion 3).

    `roles` and `methods` are the names that narrowed the choice, as the oldest call of each spells it, the oldest
    first; a name that is both is in both. `ordinal` counts from 1. `considered` is how many calls were left to choose
    from, and `candidate` the id of the one chosen; a literal ref is chosen from none.
    """

    intent: Intent
    roles: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    ordinal: int | None = None
    considered: int = 0
    candidate: str | None = None


@attrs.frozen
class Choice:
    """What a follow-up means: a `target`, or `low_utility`, the reason why there is none (P phase 2).

    `target` is the id of a call of the session, or, with `is_ref`, a literal ref as it was written. `failed` tells
    that it is a failed call: as a follow-up that is `content_ref_not_found`, `not_stored`, whatever is stored of it.
    `metadata_only` tells that the words ask for metadata.
    """

    target: str | None
    is_ref: bool
    metadata_only: bool
    low_utility: LowUtility | None
    failed: bool
    trace: Trace


def names_a_ref(say: str) -> str | None:
    """The first literal ref in `say`, as it is written: a word that begins with `content:`, or None."""
    found = _REF.search(say)
    return found and found.group()


def choose(say: str, records: Sequence[CallRecord]) -> Choice:
    """What `say` means in a session with these `records`, oldest first.

    The work is linear in the length of `say` and of all ids and names. Raises nothing.
    """
    metadata_only = _asks_for_metadata(say)
    ref = names_a_ref(say)
    if ref is not None:
        return Choice(ref, True, metadata_only, None, False, Trace(Intent.LITERAL_REF))
    tokens = _tokens(say)
    named = _calls_named(tokens, records)
    if named:
        newest = named[-1]
        trace = Trace(Intent.CALL_ID, considered=len(named), candidate=newest.id)
        return Choice(newest.id, False, metadata_only, None, newest.status is not CallStatus.OK, trace)
    trace = _choose_by_words(_folded(tokens), records)
    return Choice(trace.candidate, False, metadata_only, _low_utility(trace), False, trace)


def decide(choice_metadata_only: bool, content_bytes: int, max_bytes: int | None) -> FollowUpDecision:
    """Whether a follow-up needs the value of an entry of `content_bytes`; without `max_bytes` any size is fetched."""
    if choice_metadata_only or (max_bytes is not None and content_bytes > max_bytes):
        return FollowUpDecision.SUMMARY_ONLY
    return FollowUpDecision.FULL_FETCH


def _asks_for_metadata(say: str) -> bool:
    words = (word.group().casefold() for word in _WORD.finditer(say))
    for word in words:
        following = _OPENINGS.get(word) or _METADATA.get(word)
        fits = following is None or next(words, None) == following
        if word not in _OPENINGS or not fits:
            return word in _METADATA and fits
    return False


def _low_utility(trace: Trace) -> LowUtility | None:
    if trace.intent is Intent.NONE:
        return LowUtility.NO_FOLLOW_UP_INTENT
    return LowUtility.NO_PRIOR_CONTENT if trace.candidate is None else None


def _tokens(text: str) -> list[str]:
    """The words of `text` and each character between them, as written."""
    return _TOKEN.findall(text)


def _folded(tokens: Iterable[str]) -> list[str]:
    return [token.casefold() for token in tokens]


def _calls_named(tokens: Sequence[str], records: Sequence[CallRecord]) -> list[CallRecord]:
    """The calls whose ids are named, in whatever depth and however they ended."""
    ids = set(_occurrences(tokens, [_tokens(record.id) for record in records]).values())
    return [record for record in records if record.id in ids]


def _choose_by_words(tokens: Sequence[str], records: Sequence[CallRecord]) -> Trace:
    roles = _spellings(record.role for record in records)
    methods = _spellings(record.method for record in records)
    names_of_calls = {name for record in records for name in (record.role, record.method)}
    ends = _occurrences(tokens, [_folded(_tokens(name)) for name in names_of_calls])
    intent, ordinal = _intent(tokens, ends)
    if intent is Intent.NONE:
        return Trace(intent)
    names = set(ends.values())
    role_names, method_names = names & roles.keys(), names & methods.keys()
    left = _narrowed(records, role_names, method_names)
    place = len(left) if ordinal is None else ordinal
    return Trace(
        intent,
        _spelled(role_names, roles),
        _spelled(method_names, methods),
        ordinal,
        len(left),
        left[place - 1].id if 0 < place <= len(left) else None,
    )


def _spellings(names: Iterable[str]) -> dict[str, str]:
    """The first spelling of each name by the name without its letter case, in the order in which they come."""
    spellings: dict[str, str] = {}
    for name in names:
        spellings.setdefault(name.casefold(), name)
    return spellings


def _spelled(names: set[str], spellings: dict[str, str]) -> tuple[str, ...]:
    return tuple(spelling for name, spelling in spellings.items() if name in names)


def _intent(tokens: Sequence[str], ends: dict[int, str]) -> tuple[Intent, int | None]:
    """What the folded `tokens` refer to; `ends` is where the names of roles and methods end."""
    ordinal = next((_ORDINALS[token] for token in tokens if token in _ORDINALS), None)
    if ordinal is not None:
        return Intent.ORDINAL, ordinal
    if not _RELATIVES.isdisjoint(tokens):
        return Intent.RELATIVE, None
    return (Intent.NAMED_RESULT if _names_a_result(tokens, ends) else Intent.NONE), None


def _names_a_result(tokens: Sequence[str], ends: dict[int, str]) -> bool:
    """Whether the next word behind a name is one for a result."""
    if _RESULTS.isdisjoint(tokens):
        return False
    behind_a_name = False
    for place, token in enumerate(tokens):
        behind_a_name |= place in ends
        if behind_a_name and token in _RESULTS:
            return True
        if _WORD.match(token):
            behind_a_name = False
    return False


def _narrowed(records: Sequence[CallRecord], roles: set[str], methods: set[str]) -> list[CallRecord]:
    """The successful depth-0 calls that have the names: one of a kind is enough, but each kind that is named must hold.

    A name that is both of a role and of a method is a kind of its own: a call may have it as either.
    """
    either = roles & methods
    roles, methods = roles - either, methods - either

    def holds(role: str, method: str) -> bool:
        return (
            (not roles or role in roles)
            and (not methods or method in methods)
            and (not either or role in either or method in either)
        )

    return [
        record
        for record in records
        if record.depth == 0
        and record.status is CallStatus.OK
        and holds(record.role.casefold(), record.method.casefold())
    ]


class _Node:
    """A state of the search: the longest run of tokens just read that some phrase begins with.

    `phrase` is the longest phrase that ends here, of `length` tokens; empty if none does. `fallback` is the node of the
    next shorter run; the root is its own.
    """

    __slots__ = ("fallback", "following", "length", "phrase")

    def __init__(self, fallback: _Node | None = None) -> None:
        self.following: dict[str, _Node] = {}
        self.fallback = fallback or self
        self.phrase = ""
        self.length = 0

    def after(self, token: str) -> _Node:
        node = self
        while token not in node.following:
            if node.fallback is node:
                return node
            node = node.fallback
        return node.following[token]


def _search(phrases: Iterable[Sequence[str]]) -> _Node:
    """The root of an Aho-Corasick automaton over tokens: one walk finds all phrases, however many share a beginning.

    Blank phrases are left out: white space names nothing, or every sentence would name it.
    """
    root = _Node()
    for tokens in phrases:
        phrase = "".join(tokens)
        if not phrase or phrase.isspace():
            continue
        node = root
        for token in tokens:
            node = node.following.setdefault(token, _Node(root))
        node.phrase, node.length = phrase, len(tokens)
    waiting = deque([root])
    while waiting:
        node = waiting.popleft()
        for token, child in node.following.items():
            if node is not root:
                child.fallback = node.fallback.after(token)
            if not child.phrase:
                child.phrase, child.length = child.fallback.phrase, child.fallback.length
            waiting.append(child)
    return root


def _occurrences(tokens: Sequence[str], phrases: Iterable[Sequence[str]]) -> dict[int, str]:
    """The phrases in `tokens`, each by the place behind its end, without those inside the occurrence of a longer one.

    As words are whole tokens, no phrase is found in the middle of a word.
    """
    node = root = _search(phrases)
    found: list[tuple[int, int, str]] = []
    for end, token in enumerate(tokens, 1):
        # Most words of a long text begin no phrase, and a call for each of them is what would take the time.
        if node is root and token not in root.following:
            continue
        node = node.after(token)
        if node.phrase:
            found.append((end - node.length, end, node.phrase))
    outermost: dict[int, str] = {}
    leftmost = len(tokens)
    for start, end, phrase in reversed(found):
        if start < leftmost:
            leftmost = start
            outermost[end] = phrase
    return outermost
