"""The grammar of an answer admits answers that are right, and the parts of one are found again as it is written."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman import CallFormat, Completion
from dragoman.protocol.units import Unit
from dragoman.providers.grammar import AnswerGrammar, Cursor, Slot, grammar_of
from dragoman.providers.grammar_rules import Chars, Rules, SlotKind, rules_of

from ..strategies import segment_lists, tokens
from .grammar_walks import admits, walk
from .wire_calls import TOKEN, judged, unit_of, wire_call

units = st.lists(segment_lists.filter(lambda pieces: any(pieces)), min_size=1, max_size=4).map(
    lambda sources: [unit_of(f"b{place}", *pieces) for place, pieces in enumerate(sources)]
)
formats = st.sampled_from([CallFormat.STRUCTURED, CallFormat.SCALAR])
seeds = st.integers(0, 2**32)


def asked(sources: Sequence[Unit], format: CallFormat) -> list[Unit]:  # noqa: A002
    return list(sources if format is CallFormat.STRUCTURED else sources[:1])


@given(units, formats, tokens, seeds)
def test_whatever_the_grammar_admits_is_a_good_answer(
    sources: list[Unit],
    format: CallFormat,  # noqa: A002
    token: str,
    seed: int,
) -> None:
    sources = asked(sources, format)
    call = wire_call(sources, format, token)
    said = walk(grammar_of(call), random.Random(seed))
    verdict = judged(call, sources, Completion(said), token)
    assert verdict.good, (said, verdict.invalid)
    assert not verdict.repaired


@given(
    units, formats, st.lists(st.text(st.sampled_from('a"\\é\n漢'), min_size=1, max_size=9), min_size=24, max_size=24)
)
def test_a_grammar_that_is_filled_with_texts_holds_them_word_for_word(
    sources: list[Unit],
    format: CallFormat,  # noqa: A002
    texts: list[str],
) -> None:
    grammar = grammar_of(wire_call(asked(sources, format), format))
    texts = [f"x{text}x" for text in texts][: len(grammar.slots)]
    said = grammar.filled(texts)
    if format is CallFormat.STRUCTURED:
        said = "".join(item["text"] for item in json.loads(said)["translations"])
    assert all(text in said for text in texts)


@given(units, formats, seeds)
def test_a_cursor_knows_what_must_come_next_however_an_answer_is_cut(
    sources: list[Unit],
    format: CallFormat,  # noqa: A002
    seed: int,
) -> None:
    dice = random.Random(seed)
    grammar = grammar_of(wire_call(asked(sources, format), format))
    said = walk(grammar, dice)
    cursor = Cursor(grammar)
    written = 0
    while written < len(said):
        assert said.startswith(cursor.rest, written)
        step = dice.randint(1, 12)
        cursor.feed(said[written : written + step])
        written += step
    assert cursor.done or (not cursor.following.strip() and not cursor.rest.strip())


def test_the_ids_and_markers_of_a_call_stand_in_its_grammar_in_order() -> None:
    call = wire_call([unit_of("b1", "Hello ", "big", " world"), unit_of('"2"', "Bye")], CallFormat.STRUCTURED)
    literals = [part for part in grammar_of(call).parts if isinstance(part, str)]
    assert literals == [
        '{"translations":[{"id":"b1","text":"',
        f" <dm-{TOKEN}-1/>",
        f"<dm-{TOKEN}-2/> ",
        '"},{"id":"\\"2\\"","text":"',
        '"}]}',
    ]


def test_what_holds_no_letters_is_left_as_it_is() -> None:
    call = wire_call([unit_of("b1", "Page ", "42", " → ", "\n")], CallFormat.SCALAR)
    assert grammar_of(call).parts == (
        Slot("Page", SlotKind(escaped=False, leads=True)),
        f" <dm-{TOKEN}-1/>42<dm-{TOKEN}-2/> → <dm-{TOKEN}-3/>\n",
    )
    assert grammar_of(wire_call([unit_of("b1", "42 %")], CallFormat.SCALAR)).slots == ()


@pytest.mark.parametrize(("source", "breaks"), [("one line", ""), ("two\nlines", "\n"), ("a\tb\nc", "\n\t")])
def test_a_line_break_is_admitted_where_the_source_has_one(source: str, breaks: str) -> None:
    (slot,) = grammar_of(wire_call([unit_of("b1", source)], CallFormat.STRUCTURED)).slots
    assert slot.kind.breaks == breaks
    (alone,) = slot.alone().parts
    assert isinstance(alone, Slot)
    assert (alone.kind.escaped, alone.kind.breaks) == (False, breaks)


PLAIN = SlotKind(escaped=False)
LEADS = SlotKind(escaped=False, breaks="\n", leads=True)
IN_JSON = SlotKind(escaped=True)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *(
            (kind, text)
            for kind in (PLAIN, LEADS, IN_JSON)
            for text in ("a < b", "</div>", "<d m-x", "dm-x", "« 漢字 »")
        ),
        *((LEADS, text) for text in ("[note] x", "[tip] x", "[1] x", "{x}", "~5", "`x` y", "[", "{", "two\nlines")),
        (IN_JSON, 'a \\"quote\\"'),
        (IN_JSON, "<dm\\\\-x"),
        (PLAIN, "<dm\\-x"),
        (SlotKind(escaped=False, spaced=True), "two  spaces"),
        (SlotKind(escaped=True, breaks="\n\t"), "a\\nb\\tc"),
    ],
)
def test_a_slot_may_be_any_translation(kind: SlotKind, text: str) -> None:
    assert admits(kind, text)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *(
            (kind, text)
            for kind in (PLAIN, LEADS, IN_JSON)
            for text in ("", " ", " x", "x ", "a  b", "a\x07", "a\x85b")
        ),
        *((kind, f"x {text}") for kind in (PLAIN, LEADS, IN_JSON) for text in ("<dm-", "< /  DM-x", "</dm-", "<<dM-")),
        *(
            (LEADS, text)
            for text in ('{"translations":[]}', '[{"id":"b1"}]', '[1,{"id":1}]', '[true,{"id":1}]', "```\nx\n```")
        ),
        (IN_JSON, 'a "quote"'),
        (IN_JSON, "a\\b"),
        (IN_JSON, "a\nb"),
        (PLAIN, "a\nb"),
    ],
)
def test_a_slot_cannot_be_what_breaks_the_form(kind: SlotKind, text: str) -> None:
    assert not admits(kind, text)


def test_half_a_surrogate_pair_makes_a_grammar_that_can_be_sent() -> None:
    for format in CallFormat.STRUCTURED, CallFormat.SCALAR:  # noqa: A001
        grammar = grammar_of(wire_call([unit_of("\ud800", "\udfff", "\ud801 word")], format))
        assert grammar.gbnf.encode()
        assert "".join(part for part in grammar.parts if isinstance(part, str)).encode()


def test_no_source_text_shows_in_the_repr_of_a_grammar() -> None:
    grammar = grammar_of(wire_call([unit_of("b1", "private words", "more of them")], CallFormat.STRUCTURED))
    assert "words" not in repr(grammar) + repr(grammar.slots)


def _admits_anything_after_dm(kind: SlotKind) -> Rules:
    return {**rules_of(kind), "dm": (*rules_of(kind)["dm"], ("-", "more"))}


def _admits_blank(kind: SlotKind) -> Rules:
    return {**rules_of(kind), "text": ((), *rules_of(kind)["text"])}


def _admits_quotes(kind: SlotKind) -> Rules:
    return {**rules_of(kind), "more": ((), (Chars(((0x22, 0x22), (0x61, 0x61))), "more"))}


@pytest.mark.parametrize(
    ("fault", "format"),
    [
        (_admits_anything_after_dm, CallFormat.SCALAR),
        (_admits_blank, CallFormat.STRUCTURED),
        (_admits_quotes, CallFormat.STRUCTURED),
    ],
)
def test_a_fault_in_the_rules_is_found_by_walking(
    fault: Callable[[SlotKind], Rules],
    format: CallFormat,  # noqa: A002
) -> None:
    sources = [unit_of("b1", "Some", "words")]
    call = wire_call(sources, format)
    dice = random.Random(1)
    assert not all(judged(call, sources, Completion(walk(grammar_of(call), dice, fault))).good for _ in range(20_000))


def test_a_literal_is_written_so_that_nothing_of_it_is_read_as_notation() -> None:
    assert AnswerGrammar(('a"b\\c\n\t\x01é',)).gbnf == 'root ::= "a\\"b\\\\c\\n\\t\\x01é"\n'
