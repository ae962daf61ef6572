"""Which call a follow-up means: the sentences of the language page ("Follow-ups") one by one, and a model of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dragoman.protocol import follow_ups as module
from dragoman.protocol.follow_ups import Choice, Intent, Trace, choose, decide, names_a_ref
from dragoman.protocol.records import CallRecord
from dragoman.protocol.statuses import CallStatus, FollowUpDecision, LowUtility

ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
RELATIVES = ["last", "previous", "prior", "earlier", "that", "above", "again"]
RESULTS = ["answer", "result", "reply", "response", "output", "explanation"]
METADATA = ("how long", "what kind", "which role", "when")
OPENINGS = ("tell me", "please", "and", "so")
NO_INTENT, NOTHING = LowUtility.NO_FOLLOW_UP_INTENT, LowUtility.NO_PRIOR_CONTENT
OK, ERROR = CallStatus


def call(id_: str, role: str = "assistant", method: str = "ask", depth: int = 0, status: str = OK) -> CallRecord:
    return CallRecord(id_, role, method, depth, None, CallStatus(status))


def calls(*ids: str) -> tuple[CallRecord, ...]:
    return tuple(map(call, ids))


THREE = calls("c1", "c2", "c3")
CUP = (
    call("sp1", "debate", "speech", depth=1),
    call("vd1", "debate", "verdict"),
    call("hp1"),
    call("vd2", "debate", "verdict", status=ERROR),
    call("vd3", "debate", "verdict"),
    call("hp2"),
)
CLUB = (call("c1", "Debate Club", "c++"), call("c2"))
CO = (call("c1", "co-writer"), call("c2", "writer"))
GRID = (call("ax", "a", "x"), call("ay", "a", "y"), call("bx", "b", "x"), call("cz", "c", "z"))
REVIEW = (call("c1", "review", "x"), call("c2", "b", "review"), call("c3", "b", "x"))
RULE_NAMES = (call("c1", "last", "answer"), call("c2"))
SPELLED = (call("c1", "Debate"), call("c2", "debate"), call("c3", "DEBATE"))

CHOICES = (
    ("a literal ref wins over the words", "the first, I mean content:Ab-3_x", THREE, "content:Ab-3_x"),
    ("the id of a call wins over the words", "the first, I mean c2", THREE, "c2"),
    ("an id wins over the names beside it", "the last debate answer, not hp1", CUP, "hp1"),
    ("an id that is a word of the rules is an id", "the first answer", calls("c1", "first"), "first"),
    ("a nested call is found by its id", "Quote sp1", CUP, "sp1"),
    ("a failed call is found by its id", "Quote vd2", CUP, "vd2"),
    ("a ref goes before an id", "c1, or content:x", THREE, "content:x"),
    ("a ref needs no call", "content:x", (), "content:x"),
    ("of two ids named the newer counts, said first", "c3 and c1", THREE, "c3"),
    ("of two ids named the newer counts, said last", "c1 and c3", THREE, "c3"),
    ("an id is taken as written", "Shorten C1", THREE, NO_INTENT),
    ("an id that begins like a word is not it", "c12", THREE, NO_INTENT),
    ("an id that ends like a word is not it", "éc1", THREE, NO_INTENT),
    ("an id inside a longer one does not count", "Quote sp-1.", calls("sp-1", "sp", "1"), "sp-1"),
    ("an id beside a longer one counts", "sp and sp-1", calls("sp-1", "sp"), "sp"),
    ("longer ids only begun hide nothing", "x a b c y", calls("b c", "a b c d", "x a b c d"), "b c"),
    ("ids that overlap are both named", "a b c", calls("b c", "a b"), "a b"),
    ("an id that ends in a sign may be followed by a letter", "c#major", calls("c#"), "c#"),
    ("a new task refers to nothing", "Translate a letter", THREE, NO_INTENT),
    ("a name alone refers to nothing", "the assistant", THREE, NO_INTENT),
    ("a result alone refers to nothing", "Shorten the answer", THREE, NO_INTENT),
    ("a name behind the result refers to nothing", "answer, debate", CUP, NO_INTENT),
    ("the result is the very next word", "debate is an answer", CUP, NO_INTENT),
    ("signs between name and result do not matter", "debate:\nanswer", CUP, "vd3"),
    ("an ordinal before a relative word is an ordinal", "the first of the last", THREE, "c1"),
    ("an ordinal behind a relative word is an ordinal", "that first one", THREE, "c1"),
    ("of two ordinals the first said counts", "the second and the first", THREE, "c2"),
    ("letter case is folded whole", "the ﬁrſt", THREE, "c1"),
    ("letter case does not matter for a named result", "The Assistant ANSWER", THREE, "c3"),
    ("a name may be several words", "the debate club answer", CLUB, "c1"),
    ("a name may hold any characters", "the C++ result", CLUB, "c1"),
    ("a name is said with its own white space", "the debate  club answer", CLUB, NO_INTENT),
    ("a name inside a longer one does not count", "the last co-writer answer", CO, "c1"),
    ("a role narrows the choice", "the first assistant answer", CUP, "hp1"),
    ("a method narrows the choice", "Print the previous verdict", CUP, "vd3"),
    ("an ordinal counts among the calls of the name", "the second debate answer", CUP, "vd3"),
    ("a role and a method narrow to calls that have both", "that y of a", GRID, "ay"),
    ("of several roles any will do", "the third of b or a", GRID, "bx"),
    ("of several methods any will do", "the third of y or x", GRID, "bx"),
    ("a name of both kinds may be a role", "the first review", REVIEW, "c1"),
    ("a name of both kinds may be a method", "the last review", REVIEW, "c2"),
    ("a name of both kinds beside a role", "the last review by b", REVIEW, "c2"),
    ("a name of a nested call counts", "Print the last speech", CUP, NOTHING),
    ("a name of a failed call counts", "b answer", (call("c1"), call("c2", "b", status=ERROR)), NOTHING),
    ("a name that no call has is just a word", "the last debate answer", THREE, "c3"),
    ("a name that no call has makes no reference", "the debate answer", THREE, NO_INTENT),
    ("a part of a word is no name", "the last debates", CUP, "hp2"),
    ("a word of the rules that is a name stays one", "the last", RULE_NAMES, "c1"),
    ("a name that is a result needs one behind it", "any answer", RULE_NAMES, NO_INTENT),
    ("failed calls are left out", "the last", (call("c1"), call("c2", status=ERROR)), "c1"),
    ("nested calls are left out", "the last", (call("c1"), call("c2", depth=1)), "c1"),
    ("nothing to pick from", "the last", (), NOTHING),
    ("an ordinal past the end", "the fourth", THREE, NOTHING),
)


@pytest.mark.parametrize(("say", "known", "expected"), [row[1:] for row in CHOICES], ids=[row[0] for row in CHOICES])
def test_a_sentence_of_the_rules_holds(say: str, known: Sequence[CallRecord], expected: str) -> None:
    choice = choose(say, known)
    assert (choice.target, choice.low_utility) == (
        (None, expected) if isinstance(expected, LowUtility) else (expected, None)
    )
    assert choice.is_ref == expected.startswith("content:")
    assert choice.failed == any((record.id, record.status) == (expected, ERROR) for record in known)


TRACES = (
    ("a literal ref, from no calls", "the first, content:canary", THREE, Trace(Intent.LITERAL_REF)),
    ("ids, from the calls named", "c1 or c3, canary", THREE, Trace(Intent.CALL_ID, (), (), None, 2, "c3")),
    ("an ordinal", "the second canary", THREE, Trace(Intent.ORDINAL, (), (), 2, 3, "c2")),
    ("an ordinal past the end", "the tenth", THREE, Trace(Intent.ORDINAL, (), (), 10, 3, None)),
    ("a relative word first", "that ask answer", THREE, Trace(Intent.RELATIVE, (), ("ask",), None, 3, "c3")),
    ("a named result", "a answer", GRID, Trace(Intent.NAMED_RESULT, ("a",), (), None, 2, "ay")),
    ("names as they came", "that y, x, c or a", GRID, Trace(Intent.RELATIVE, ("a", "c"), ("x", "y"), None, 2, "ay")),
    ("both kinds", "review reply", REVIEW, Trace(Intent.NAMED_RESULT, ("review",), ("review",), None, 2, "c2")),
    ("the oldest spelling", "second debate", SPELLED, Trace(Intent.ORDINAL, ("Debate",), (), 2, 3, "c2")),
    ("no reference", "canary assistant", THREE, Trace(Intent.NONE)),
)


@pytest.mark.parametrize(("say", "known", "expected"), [row[1:] for row in TRACES], ids=[row[0] for row in TRACES])
def test_the_trace_tells_why_without_the_words(say: str, known: Sequence[CallRecord], expected: Trace) -> None:
    assert choose(say, known).trace == expected
    assert "canary" not in repr(expected)


REFS = {
    "content:abc": "content:abc",
    "(content:a-b_C9). More": "content:a-b_C9",
    "see content:b, not content:a": "content:b",
    "content: content:abc": "content:abc",
    "-content:abc": "content:abc",
    "CONTENT:abc Content:abc": None,
    "content: abc, content": None,
    "discontent:abc my_content:abc": None,
    "": None,
}


@pytest.mark.parametrize(("say", "expected"), REFS.items())
def test_a_ref_is_a_word_that_begins_with_content_and_a_colon(say: str, expected: str | None) -> None:
    assert names_a_ref(say) == expected


@pytest.mark.parametrize(("number", "word"), list(enumerate(ORDINALS, 1)))
def test_an_ordinal_counts_from_the_oldest(number: int, word: str) -> None:
    known = calls(*(f"c{place}" for place in range(1, 13)))
    assert choose(f"Shorten the {word} one", known).target == f"c{number}"


@pytest.mark.parametrize("word", RELATIVES)
@pytest.mark.parametrize("form", ["Shorten {} one", "{}", "{}'s it", "»{}…", "\t{}-minute"])
def test_a_relative_word_is_the_newest(form: str, word: str) -> None:
    assert choose(form.format(word), THREE).target == choose(form.format(word.upper()), THREE).target == "c3"


@pytest.mark.parametrize("word", RESULTS)
@pytest.mark.parametrize(("name", "expected"), [("assistant", "hp2"), ("verdict", "vd3")])
def test_a_name_before_a_result_is_the_newest_of_it(name: str, expected: str, word: str) -> None:
    assert choose(f"Shorten the {name} {word}", CUP).target == expected


NO_REFERENCES = """eleventh 1st one ten latest before this it everlasting last_one _last last1 élast thatch İlast"""


@pytest.mark.parametrize("word", NO_REFERENCES.split())
def test_no_other_word_refers_back(word: str) -> None:
    assert choose(f"Shorten {word} ask answers", THREE).low_utility == NO_INTENT


@pytest.mark.parametrize("identity", ["call 7", "[7]", "a.b*", "7?", "$1", "Fräulein", "日本", "a  b", "#", "a\nb"])
def test_an_id_may_hold_any_characters(identity: str) -> None:
    assert choose(f"Shorten {identity}, please", calls(identity, "z")).target == identity


@pytest.mark.parametrize(
    ("role", "said"), [("Debate", "dEBATE"), ("straße", "STRASSE"), ("ΣΟΦΟΣ", "σοφος"), ("ǰ", "ǰ")]
)
def test_letter_case_does_not_matter_for_a_name(role: str, said: str) -> None:
    assert choose(f"the last {said}", (call("c1", role), call("c2"))).target == "c1"
    assert choose(f"the last {said}x", (call("c1", role), call("c2"))).target == "c2"


@pytest.mark.parametrize("blank", ["", " ", "\n"])
def test_a_blank_id_or_name_is_never_named(blank: str) -> None:
    known = (call("c1", blank, blank), call("c2"), call(blank, "debate"))
    assert choose("the \n first", known).trace == Trace(Intent.ORDINAL, (), (), 1, 3, "c1")
    assert choose(" answer\n answer", known).low_utility == NO_INTENT


def test_whether_content_was_stored_does_not_matter_to_the_choice() -> None:
    known = (call("c1"), attrs.evolve(call("c2"), content_ref="content:x", content_bytes=3), call("c3"))
    assert (choose("the last", known).target, choose("the second", known).target) == ("c3", "c2")


@pytest.mark.parametrize("question", METADATA)
@pytest.mark.parametrize("opening", ["", *OPENINGS, "and so please tell me", "Please, PLEASE:", "tell\nme —", " »"])
@pytest.mark.parametrize("rest", ["", " is c1", "'s the last", " is content:x?", " did it rain"])
def test_a_question_that_opens_say_asks_for_metadata(opening: str, question: str, rest: str) -> None:
    assert choose(f"{opening} {question}{rest}", THREE).metadata_only
    assert choose(f"{opening}, {question.upper().replace(' ', ' - ')}{rest}", THREE).metadata_only


NO_QUESTIONS = """; please; tell me; Shorten that when you can; I ask how long; tell us when; tell when; me when;
tell please me when; how is that long; how; what; which; longer how long; whenever; how longer; what kinds; howlong;
how_long; what role; which kind; or when; sowhen; please how when; tell tell me when"""


@pytest.mark.parametrize("say", NO_QUESTIONS.split(";"))
def test_any_other_beginning_asks_for_content(say: str) -> None:
    assert not choose(say, THREE).metadata_only


@pytest.mark.parametrize(("limit", "fits"), [(None, True), (28, True), (27, True), (26, False), (0, False)])
def test_metadata_or_an_entry_larger_than_the_limit_is_summary_only(limit: int | None, fits: bool) -> None:
    assert decide(False, 27, limit) is (FollowUpDecision.FULL_FETCH if fits else FollowUpDecision.SUMMARY_ONLY)
    assert decide(True, 27, limit) is FollowUpDecision.SUMMARY_ONLY


class Model:
    """The same rules, naively, over all stretches of the text."""

    def __init__(self, say: str, known: Sequence[CallRecord]) -> None:
        self.say, self.known = say, known
        starts = [place for place in range(len(say)) if self.inside(place) and not self.inside(place - 1)]
        ends = [place + 1 for place in range(len(say)) if self.inside(place) and not self.inside(place + 1)]
        self.words = [(start, say[start:end].casefold()) for start, end in zip(starts, ends, strict=True)]

    def inside(self, place: int) -> bool:
        return 0 <= place < len(self.say) and (self.say[place].isalnum() or self.say[place] == "_")

    def spans(self, names: Sequence[str], fold: Callable[[str], str]) -> list[tuple[int, int]]:
        wanted = [fold(name) for name in names if name.strip()]
        size = range(len(self.say) + 1)
        found = [(start, end) for start in size for end in size[start + 1 :] if fold(self.say[start:end]) in wanted]
        whole = [span for span in found if not any(self.inside(edge - 1) and self.inside(edge) for edge in span)]
        return [
            (start, end)
            for start, end in whole
            if not any(left <= start and end <= right for left, right in whole if (left, right) != (start, end))
        ]

    def metadata(self) -> bool:
        said = " ".join(word for _, word in self.words) + " "
        while opening := next((words for words in OPENINGS if said.startswith(words + " ")), None):
            said = said.removeprefix(opening + " ")
        return any(said.startswith(words + " ") for words in METADATA)

    def ref(self) -> str | None:
        for start in range(len(self.say)):
            end = start + len("content:")
            while end < len(self.say) and self.say[end].isascii() and (self.inside(end) or self.say[end] == "-"):
                end += 1
            if self.say.startswith("content:", start) and end > start + 8 and not self.inside(start - 1):
                return self.say[start:end]
        return None

    def trace(self) -> Trace:
        roles, methods = [record.role for record in self.known], [record.method for record in self.known]
        spans = self.spans(roles + methods, str.casefold)
        names = {self.say[start:end].casefold() for start, end in spans}
        behind = {next((word for place, word in self.words if place >= end), "") for _, end in spans}
        ordinals = [ORDINALS.index(word) + 1 for _, word in self.words if word in ORDINALS]
        relative = any(word in RELATIVES for _, word in self.words)
        if not ordinals and not relative and not behind & {*RESULTS}:
            return Trace(Intent.NONE)
        left = [record for record in self.known if record.depth == 0 and record.status == "ok"]
        left = [record for record in left if self.holds(record, names)]
        intent = Intent.ORDINAL if ordinals else Intent.RELATIVE if relative else Intent.NAMED_RESULT
        chosen = left[ordinals[0] - 1 : ordinals[0]] if ordinals else left[-1:]
        said = (self.oldest(roles, names), self.oldest(methods, names))
        return Trace(intent, *said, next(iter(ordinals), None), len(left), chosen[0].id if chosen else None)

    def holds(self, record: CallRecord, names: set[str]) -> bool:
        roles = names & {known.role.casefold() for known in self.known}
        methods = names & {known.method.casefold() for known in self.known}
        role, method = record.role.casefold(), record.method.casefold()
        kinds = ((roles - methods, {role}), (methods - roles, {method}), (roles & methods, {role, method}))
        return all(not wanted or wanted & own for wanted, own in kinds)

    def oldest(self, kind: list[str], names: set[str]) -> tuple[str, ...]:
        folded = [name.casefold() for name in kind]
        return tuple(kind[folded.index(name)] for name in dict.fromkeys(folded) if name in names)

    def choice(self) -> Choice:
        if ref := self.ref():
            return Choice(ref, True, self.metadata(), None, False, Trace(Intent.LITERAL_REF))
        ids = {self.say[start:end] for start, end in self.spans([record.id for record in self.known], str)}
        if named := [record for record in self.known if record.id in ids]:
            trace = Trace(Intent.CALL_ID, considered=len(named), candidate=named[-1].id)
            return Choice(named[-1].id, False, self.metadata(), None, named[-1].status == "error", trace)
        trace = self.trace()
        why = NO_INTENT if trace.intent == "NONE" else NOTHING if trace.candidate is None else None
        return Choice(trace.candidate, False, self.metadata(), why, False, trace)


NAMES = ["debate", "Debate club", "club", "ask", "ASK", "straße", "c++", "+", "co-ask", "a a", "first", "answer", ""]
IDS = ["sp", "sp-1", "1", "Sp", "sp-1 a", "a", "a a", "a a a", "-", "last", "", " ", "content", "é"]
OTHERS = ["STRASSE", "DEBATE", "second", "That", "reply", "OUTPUT", "answers", "x", "_", "é", "-", "'", "\n", "."]

statuses = st.sampled_from([OK, OK, ERROR])
depths = st.sampled_from([0, 0, 0, 1])
known_calls = st.lists(
    st.builds(call, st.sampled_from(IDS), st.sampled_from(NAMES), st.sampled_from(NAMES), depths, statuses),
    max_size=6,
    unique_by=lambda record: record.id,
)
numbered_calls = known_calls.map(
    lambda known: [attrs.evolve(record, id=f"id{place}") for place, record in enumerate(known)]
)
"""Calls whose ids are not said, so that the words decide."""


def said(*scraps: str) -> st.SearchStrategy[str]:
    """Texts of `scraps`, glued together and with spaces between them."""
    return st.builds(str.join, st.sampled_from(["", " "]), st.lists(st.sampled_from([*scraps, " "]), max_size=8))


@given(said(*NAMES, *OTHERS), numbered_calls)
@example("first responder answer", [call("c1", "first responder")])
@example("debate club answer", [call("c1", "debate"), call("c2", "Debate club")])
@example("a a a answer", [call("c1", "a a"), call("c2", "a")])
def test_the_words_choose_as_the_model_does(say: str, known: list[CallRecord]) -> None:
    assert choose(say, known) == Model(say, known).choice()


@given(said(*IDS, "content:", "first", "."), known_calls)
@example("sp-1 a", [call("sp-1"), call("1 a"), call("sp")])
@example("a a a a", [call("a a a"), call("a a")])
def test_ids_and_refs_choose_as_the_model_does(say: str, known: list[CallRecord]) -> None:
    assert choose(say, known) == Model(say, known).choice()


@given(said(*OPENINGS, *METADATA, "tell", "me", "how", "long", "x", "And", "WHEN", "so,"))
def test_metadata_is_asked_for_as_the_model_says(say: str) -> None:
    assert choose(say, ()).metadata_only == Model(say, ()).metadata()


@given(st.text(max_size=40), st.lists(st.text(max_size=4), max_size=4, unique=True))
def test_any_text_is_answered(say: str, names: list[str]) -> None:
    choice = choose(say, [call(name, name, name) for name in names])
    assert (choice.target is None) != (choice.low_utility is None)
    assert choice.is_ref or choice.target in {None, *names}


def work(say: str, known: Sequence[CallRecord]) -> int:
    """How many lines of the module `choose` runs; a line of a comprehension counts for each item."""
    lines = 0

    def trace(frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal lines
        if frame.f_code.co_filename != module.__file__:
            return None
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        choose(say, known)
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.parametrize("scrap", ["word ", "Role ", "A ", "a ", "! ", "!", "tell me ", "x"])
@pytest.mark.parametrize("end", ["", " answer"])
def test_the_work_is_linear_in_what_is_said(scrap: str, end: str) -> None:
    nested = [call("a " * place + "a", "role " * place + "role", "!" * (place + 1)) for place in range(12)]
    twisted = [call(f"b{place}", "a " * place + "a", "a " * place + "b") for place in range(12)]
    few, some, many = (work(scrap * size + end, nested + twisted) for size in (500, 1000, 1500))
    assert many - some <= some - few + 20
    assert many - some <= 500 * 2 * len(scrap) * 30


def test_the_work_is_linear_in_the_records() -> None:
    known = [call(f"id-{place}", f"role {place}", f"m{place}") for place in range(600)]
    few, some, many = (work("the last role of a " + "word " * 100, known[:size]) for size in (200, 400, 600))
    assert many - some <= some - few + 20
    assert many - some <= 200 * 150


def test_a_record_costs_nothing_for_each_word_said() -> None:
    known = [call(f"id-{place}", f"role {place}", f"m{place}") for place in range(200)]
    of_one, of_all = (work("word " * 1000, some) - work("word " * 10, some) for some in (known[:1], known))
    assert of_one == of_all
