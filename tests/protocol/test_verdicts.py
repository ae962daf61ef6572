"""What is right and wrong with an answer (language page, "Contract violations"), for each format of a call."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocol.content import is_blank
from dragoman.protocol.markers import contains_marker, join
from dragoman.protocol.statuses import CallFormat
from dragoman.protocol.units import Unit
from dragoman.protocol.verdicts import Verdict, Violation, judge

from ..strategies import segment_lists, texts, tokens

TOKEN = "abcdefgh"
OTHER = "hgfedcba"
MARKER = f"<dm-{TOKEN}-1/>"

one, two, three = (Unit(name, name, (source,)) for name, source in (("p1", "one"), ("p2", "two"), ("p3", "three")))
pair = Unit("p1", "p1", ("Mind ", "the gap"))


def items(*pairs: tuple[object, object]) -> str:
    return json.dumps({"translations": [{"id": identity, "text": text} for identity, text in pairs]})


def structured(text: object, *units: Unit) -> Verdict:
    return judge(CallFormat.STRUCTURED, units, TOKEN, text, None)  # type: ignore[arg-type]


def scalar(text: object, unit: Unit = one) -> Verdict:
    return judge(CallFormat.SCALAR, (unit,), TOKEN, text, None)  # type: ignore[arg-type]


def plain(texts: object, *units: Unit) -> Verdict:
    return judge(CallFormat.TEXTS, units, TOKEN, None, texts)  # type: ignore[arg-type]


def said(verdict: Verdict) -> dict[str, object]:
    """What a verdict says of each unit: its one text, its pieces, or what is wrong with it."""
    assert not verdict.valid.keys() & dict(verdict.invalid).keys()
    assert verdict.good == (not verdict.invalid)
    pieces = {name: found[0] if len(found) == 1 else found for name, found in verdict.valid.items()}
    return pieces | dict(verdict.invalid)


answered = st.lists(segment_lists.filter(lambda pieces: not any(map(is_blank, pieces))), min_size=1, max_size=4)


@given(answered, tokens, st.integers(1, 50))
def test_what_was_joined_and_sent_back_is_valid(found: list[list[str]], token: str, first: int) -> None:
    units = [Unit(f"p{number}", "p", ("x",) * len(pieces), first) for number, pieces in enumerate(found)]
    wire = [(unit.id, join(pieces, token, first)) for unit, pieces in zip(units, found, strict=True)]
    verdict = judge(CallFormat.STRUCTURED, units, token, items(*reversed(wire)), None)
    assert verdict.valid == {unit.id: tuple(pieces) for unit, pieces in zip(units, found, strict=True)}
    assert list(verdict.valid) == [unit.id for unit in units]
    assert (verdict.good, verdict.unsafe, verdict.repaired) == (True, None, False)
    alone = judge(CallFormat.SCALAR, units[:1], token, items(wire[0]), None)
    assert alone.valid == {"p0": tuple(found[0])}


def test_a_missing_unit_is_a_violation() -> None:
    verdict = structured(items(("p2", "zwei")), one, two, three)
    assert said(verdict) == {"p1": Violation.MISSING, "p2": "zwei", "p3": Violation.MISSING}
    assert verdict.invalid == (("p1", Violation.MISSING), ("p3", Violation.MISSING))
    assert verdict.unsafe is None


def test_units_are_known_by_their_ids_and_never_by_position() -> None:
    assert said(structured(items(("p2", "zwei"), ("p1", "eins")), one, two)) == {"p1": "eins", "p2": "zwei"}
    verdict = structured('[{"text": "eins"}, {"id": null, "text": "zwei"}]', one, two)
    assert said(verdict) == {"p1": Violation.MISSING, "p2": Violation.MISSING}
    assert verdict.unsafe is None


def test_a_whole_number_is_an_id_by_its_digits() -> None:
    seven = Unit("7", "7", ("seven",))
    assert said(structured(items((7, "sieben"), ("p1", "eins")), seven, one)) == {"7": "sieben", "p1": "eins"}
    assert structured(items((7.0, "sieben"), ("p1", "eins")), seven, one).unsafe is Violation.UNKNOWN_ID
    assert structured(items((7, "sieben"), ("7", "sieben")), seven).unsafe is Violation.DUPLICATE_ID


@pytest.mark.parametrize("text", ["Music is a language of its own.", "", "{}", None, 7, b"[]", ["eins"]])
def test_what_cannot_be_parsed_is_unsafe(text: object) -> None:
    verdict = structured(text, one, two)
    assert said(verdict) == {"p1": Violation.UNPARSEABLE, "p2": Violation.UNPARSEABLE}
    assert verdict.unsafe is Violation.UNPARSEABLE


@pytest.mark.parametrize("again", ["eins", "", None])
def test_an_asked_id_that_comes_twice_is_unsafe_whatever_its_texts(again: object) -> None:
    verdict = structured(items(("p1", "eins"), ("p1", again), ("p2", "zwei")), one, two)
    assert said(verdict) == {"p1": Violation.DUPLICATE_ID, "p2": Violation.DUPLICATE_ID}
    assert verdict.unsafe is Violation.DUPLICATE_ID


@pytest.mark.parametrize(
    "body",
    [
        '[{"id": "p1", "text": "eins", "text": "one"}]',
        '[{"id": "p1", "id": "p9", "text": "eins"}]',
        '{"translations": [{"id": "p1", "text": "eins"}], "translations": []}',
    ],
)
def test_a_doubled_key_is_unsafe(body: str) -> None:
    assert structured(body, one).unsafe is Violation.DUPLICATE_ID


@pytest.mark.parametrize("odd", ["p9", "P1", " p1", "", True, 1.5, ["p1"], {"id": "p1"}])
def test_an_unknown_id_is_unsafe_only_while_a_unit_is_missing(odd: object) -> None:
    verdict = structured(items((odd, "eins"), ("p2", "zwei")), one, two)
    assert said(verdict) == {"p1": Violation.UNKNOWN_ID, "p2": Violation.UNKNOWN_ID}
    assert verdict.unsafe is Violation.UNKNOWN_ID
    assert structured(items((odd, "eins")), one).unsafe is Violation.UNKNOWN_ID
    complete = structured(items((odd, "x"), ("p1", "eins"), (odd, "x"), ("p2", "zwei")), one, two)
    assert (said(complete), complete.unsafe) == ({"p1": "eins", "p2": "zwei"}, None)


@pytest.mark.parametrize("text", [1, None, True, ["vier"], {"de": "fünf"}])
def test_a_text_that_is_no_string_is_invalid(text: object) -> None:
    assert said(structured(items(("p1", text), ("p2", "zwei")), one, two)) == {"p1": Violation.NOT_TEXT, "p2": "zwei"}


def test_an_item_without_a_text_is_not_missing() -> None:
    assert said(structured('[{"id": "p1"}]', one)) == {"p1": Violation.NOT_TEXT}


def test_an_item_without_an_id_is_that_of_the_one_unit_if_it_is_alone() -> None:
    assert said(structured('[{"text": "eins"}]', one)) == {"p1": "eins"}
    assert said(structured('[{"id": null, "text": "eins"}]', one)) == {"p1": "eins"}
    assert said(structured('["eins"]', one)) == {"p1": Violation.NOT_TEXT}
    assert said(structured('[{"text": "eins"}, {"text": "zwei"}]', one)) == {"p1": Violation.MISSING}
    assert said(structured('[{"text": "x"}, {"id": "p1", "text": "eins"}]', one)) == {"p1": "eins"}


@pytest.mark.parametrize("text", ["", " ", "\n\u3000"])
def test_a_blank_text_is_invalid_unless_its_source_is_blank(text: str) -> None:
    blank = Unit("p1", "p1", (" \t",))
    for answer in (items(("p1", text)), json.dumps([{"text": text}])):
        assert said(structured(answer, one)) == {"p1": Violation.BLANK}
        assert said(structured(answer, blank)) == {"p1": text}
    assert said(scalar(text)) == {"p1": Violation.BLANK}
    assert said(scalar(text, blank)) == {"p1": ""}
    assert said(plain((text,), one)) == {"p1": Violation.BLANK}
    assert said(plain((text,), blank)) == {"p1": text}
    assert said(structured(items(("p1", text)), pair)) == {"p1": Violation.BLANK}


MARKER_VIOLATIONS = [
    "Vorsicht Spalt",
    f"Vorsicht <dm-{OTHER}-1/>Spalt",
    f"Vorsicht {MARKER}Spalt{MARKER}",
    f"Vorsicht {MARKER}Spalt<dm-{TOKEN}-2/>",
    f"Vorsicht <dm-{TOKEN}-2/>Spalt",
    f"Vorsicht {MARKER}Spalt</dm-{TOKEN}-1>",
    f"Vorsicht {MARKER}Spalt<dm-",
    f"Vorsicht <dm-{TOKEN}-1 Spalt",
]


@pytest.mark.parametrize("text", MARKER_VIOLATIONS)
def test_markers_that_are_not_those_that_were_sent_are_a_violation(text: str) -> None:
    assert said(structured(items(("p1", text)), pair)) == {"p1": Violation.MARKERS}
    assert said(scalar(text, pair)) == {"p1": Violation.MARKERS}


@pytest.mark.parametrize("text", MARKER_VIOLATIONS[1:])
def test_a_unit_of_one_piece_takes_no_marker_at_all(text: str) -> None:
    assert said(structured(items(("p1", text)), one)) == {"p1": Violation.MARKERS}
    assert said(scalar(text)) == {"p1": Violation.MARKERS}


def test_markers_are_counted_from_the_first_of_the_unit() -> None:
    fragment = Unit("p1.2", "p1", ("the ", "gap"), first_marker=4)
    assert said(structured(items(("p1.2", f"der <dm-{TOKEN}-4/>Spalt")), fragment)) == {"p1.2": ("der ", "Spalt")}
    assert said(structured(items(("p1.2", f"der {MARKER}Spalt")), fragment)) == {"p1.2": Violation.MARKERS}


def test_a_blank_segment_is_invalid_unless_its_source_is_blank() -> None:
    spaced = Unit("p1", "p1", ("Mind", " ", "the gap"))
    text = f"Vorsicht{MARKER}<dm-{TOKEN}-2/>Spalt"
    assert said(structured(items(("p1", text)), spaced)) == {"p1": ("Vorsicht", "", "Spalt")}
    assert said(structured(items(("p1", f"Vorsicht{MARKER} ")), pair)) == {"p1": Violation.BLANK_SEGMENT}
    assert said(scalar(f" {MARKER}Spalt", pair)) == {"p1": Violation.BLANK_SEGMENT}
    assert said(plain(("Vorsicht", " "), pair)) == {"p1": Violation.BLANK_SEGMENT}


def test_an_escaped_literal_comes_back_as_the_literal() -> None:
    assert said(structured(items(("p1", r"a <dm\-x/> b")), one)) == {"p1": "a <dm-x/> b"}
    assert said(scalar(rf"a <dm\-x/>{MARKER}b", pair)) == {"p1": ("a <dm-x/>", "b")}


@given(texts.filter(lambda text: not is_blank(text)))
def test_a_text_equal_to_its_source_is_valid(text: str) -> None:
    unit = Unit("p1", "p1", (text,))
    assert structured(items(("p1", join([text], TOKEN))), unit).good


def test_the_text_of_an_item_stands_as_it_is() -> None:
    for text in (" eins\n", "```\neins\n```", items(("p1", "eins")), '{"bird": "Möwe"}'):
        assert said(structured(items(("p1", text)), one)) == {"p1": text}
        assert said(scalar(items(("p1", text)))) == {"p1": text}


def test_a_repair_is_told() -> None:
    verdict = structured("[{'id': 'p1', 'text': 'eins'},", one, two)
    assert (said(verdict), verdict.repaired) == ({"p1": "eins", "p2": Violation.MISSING}, True)
    assert structured("[{'id': 'p1', 'text': ''},]", one).repaired
    assert structured("[{'id': 'p9', 'text': 'eins'}]", one).repaired


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("eins", "eins"),
        ("  eins zwei\n", "eins zwei"),
        ("```\neins\n```", "eins"),
        ("```text\n eins\nzwei \n```\n", "eins\nzwei"),
        ("~~~\r\neins\r\n~~~", "eins"),
        ("````\n```\neins\n```\n````", "```\neins\n```"),
        ("```\neins\n```\nund\n```\nzwei\n```", "```\neins\n```\nund\n```\nzwei\n```"),
        ("```\neins", "```\neins"),
        ("eins\n```", "eins\n```"),
        ("```eins```", "```eins```"),
    ],
)
def test_a_scalar_answer_loses_outer_white_space_and_a_fence_around_the_whole(text: str, bare: str) -> None:
    assert said(scalar(text)) == {"p1": bare}


@pytest.mark.parametrize(
    "text",
    [
        '{"bird": "Möwe"}',
        "[1] Fußnote",
        "[1, 2]",
        '["eins"]',
        "[]",
        "{name}",
        '{"p1": "eins"}',
        '{"result": {"translations": [{"id": "p1", "text": "eins"}]}}',
        '{"id": "p1", "text": "eins"}',
        'Etwa so: [{"id": "p1", "text": "eins"}]',
        '[1] [{"id": "p1", "text": "eins"}]',
        "[[[[" * 50,
    ],
)
def test_other_text_is_text_json_or_not(text: str) -> None:
    assert said(scalar(text)) == {"p1": text}


@pytest.mark.parametrize(
    "text",
    [
        items(("p1", "eins")),
        '[{"id": "p1", "text": "eins"}]',
        '[{"text": "eins"}]',
        '{"translations": [{"text": "eins"}]}',
        '{"model": "m", "translations": [{"id": "p1", "text": "eins"}]}',
        '[{"lang": "de", "id": "p1", "text": "eins"}]',
        "\n```json\n" + items(("p1", "eins")) + "\n```",
        "{'translations': [{'id': 'p1', 'text': 'eins'}]",
        items(("p1", "eins"), ("p9", "neun")),
    ],
)
def test_the_envelope_around_the_one_unit_is_unwrapped(text: str) -> None:
    assert said(scalar(text)) == {"p1": "eins"}


@pytest.mark.parametrize(
    ("text", "violation"),
    [
        (items(("p9", "neun")), Violation.UNKNOWN_ID),
        (items(("p1", "eins"), ("p1", "eins")), Violation.DUPLICATE_ID),
        ('[{"text": "eins"}, {"text": "zwei"}]', Violation.MISSING),
        (items(("p1", "")), Violation.BLANK),
        (items(("p1", 1)), Violation.NOT_TEXT),
        ('{"translations": []}', Violation.MISSING),
        ('{"translations": "eins"}', Violation.UNPARSEABLE),
        ('{"translations": [{"id": "p1", "text": "ei', Violation.UNPARSEABLE),
        ('{"translations":', Violation.UNPARSEABLE),
        ("```json\n" + '{"translations": [{"id": "p1", "te', Violation.UNPARSEABLE),
        ('[{"id": "p1", "text": "ei', Violation.UNPARSEABLE),
        ('[{"text": "ei\nns"}]', Violation.UNPARSEABLE),
    ],
)
def test_an_envelope_that_fails_never_passes_as_bare_text(text: str, violation: Violation) -> None:
    assert said(scalar(text)) == {"p1": violation}


@pytest.mark.parametrize("text", [None, 7, b"eins", ["eins"]])
def test_a_scalar_answer_without_a_text_is_unsafe(text: object) -> None:
    assert scalar(text).unsafe is Violation.UNPARSEABLE


def test_the_texts_of_a_machine_map_by_position() -> None:
    verdict = plain(("Vorsicht ", "Spalt", "zwei"), pair, two)
    assert said(verdict) == {"p1": ("Vorsicht ", "Spalt"), "p2": "zwei"}
    assert said(plain(["eins"], one)) == {"p1": "eins"}


@pytest.mark.parametrize("found", [(), ("eins",), ("eins", "zwei", "drei"), "eins", 7])
def test_another_number_of_texts_than_asked_for_is_unsafe(found: object) -> None:
    verdict = plain(found, one, two)
    assert said(verdict) == {"p1": Violation.WRONG_COUNT, "p2": Violation.WRONG_COUNT}
    assert verdict.unsafe is Violation.WRONG_COUNT


def test_a_machine_may_answer_one_plain_text_with_a_body() -> None:
    def by_body(text: object, *units: Unit) -> Verdict:
        return judge(CallFormat.TEXTS, units, TOKEN, text, None)  # type: ignore[arg-type]

    assert said(by_body(" eins ", one)) == {"p1": " eins "}
    assert said(by_body(7, one)) == {"p1": Violation.NOT_TEXT}
    for verdict in (by_body("eins, zwei", one, two), by_body("Vorsicht Spalt", pair), by_body(None, one)):
        assert verdict.unsafe is Violation.UNPARSEABLE


@pytest.mark.parametrize("text", [None, 1, b"eins", ["eins"]])
def test_what_a_machine_returns_must_be_text(text: object) -> None:
    assert said(plain((text, "zwei"), one, two)) == {"p1": Violation.NOT_TEXT, "p2": "zwei"}


@pytest.mark.parametrize(
    "text", [f"a{MARKER}", f"<dm-{OTHER}-9>", '{"a": 1}', " [1, 2]\n", "[]", items(("p1", "eins"))]
)
def test_markers_and_json_are_no_plain_text(text: str) -> None:
    assert said(plain((text, "zwei"), one, two)) == {"p1": Violation.NOT_PLAIN, "p2": "zwei"}
    assert said(plain(("Vorsicht ", text), pair)) == {"p1": Violation.NOT_PLAIN}


def test_json_may_be_translated_to_json() -> None:
    source = Unit("p1", "p1", ('{"tide": "low"}',))
    assert said(plain(('{"tide": "niedrig"}',), source)) == {"p1": '{"tide": "niedrig"}'}
    assert said(plain((f'{{"tide": "{MARKER}"}}',), source)) == {"p1": Violation.NOT_PLAIN}


@pytest.mark.parametrize("text", ["{name}", "[1] Fußnote", '"eins"', "1", r"a <dm\-x/> b", "a < b", "[" * 100_000])
def test_other_texts_of_a_machine_stand_as_they_are(text: str) -> None:
    assert said(plain((text,), one)) == {"p1": text}


_scraps = st.sampled_from(
    [
        "```",
        "~~~\n",
        "\n",
        " ",
        "[",
        "]",
        "{",
        "}",
        ",",
        '"',
        "'",
        MARKER,
        "<dm-",
        "\\",
        "\ud800",
        items(("p1", "eins")),
    ]
)


@given(st.sampled_from(CallFormat), st.lists(_scraps | texts, max_size=12).map("".join), st.sampled_from([one, pair]))
def test_no_answer_raises_and_every_unit_gets_its_verdict(format: CallFormat, text: str, unit: Unit) -> None:  # noqa: A002
    for found in (judge(format, (unit,), TOKEN, text, None), judge(format, (unit, two), TOKEN, text, (text, text))):
        assert all(not contains_marker(piece) for piece in found.valid.get("p1", ())) or "\\" in text
        assert len(found.valid) + len(found.invalid) in (1, 2)
        assert not (found.unsafe and found.valid)
        assert all(len(found.valid.get(asked.id, asked.pieces)) == len(asked.pieces) for asked in (unit, two))


@pytest.mark.parametrize("scrap", ["[", "{", '{"translations":[', "<", "<dm-", "< ", "`", "```\n", "\n", "~", " x"])
@pytest.mark.parametrize("format", CallFormat)
def test_the_work_is_linear_in_the_length_of_the_answer(format: CallFormat, scrap: str) -> None:  # noqa: A002
    text = scrap * (1_000_000 // len(scrap))
    for body in (text, "```\n" + text, text + "x"):
        assert len(said(judge(format, (one,), TOKEN, body, None))) == 1


def test_a_verdict_is_read_only_and_shows_no_text() -> None:
    verdict = structured(items(("p1", "eins"), ("p2", "")), one, two)
    with pytest.raises(TypeError):
        verdict.valid["p1"] = ("x",)  # type: ignore[index]
    assert "eins" not in repr(verdict)
    assert "BLANK" in repr(verdict)
