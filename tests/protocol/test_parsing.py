"""Reading the wire envelope: what is tolerated, the three repairs, and that nothing is ever made up."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.protocol.parsing import Item, Parsed, parse

from ..strategies import texts

ONE = '{"id": "p1", "text": "eins"}'
TWO = '{"id": "p2", "text": "zwei"}'
P1, P2 = Item("p1", "eins"), Item("p2", "zwei")

SCRAPS = ["{", "}", "[", "]", ",", ":", '"', "'", "\\", "```", '"}]}', '", "id": "p2"', "\n", "ä", "😀", "a"]

tricky = st.lists(st.sampled_from(SCRAPS) | st.characters(codec="utf-8"), max_size=8).map("".join)
extras = st.dictionaries(
    st.sampled_from(["note", "it's", '{"', "Id"]),
    st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.lists(tricky),
    max_size=2,
)
items = st.builds(lambda identity, text, extra: {"id": identity, "text": text} | extra, tricky, tricky, extras)
item_lists = st.lists(items, min_size=1, max_size=4)
prose = st.text(st.sampled_from("aZ .,:!?\n\u00e4`~(<-")).map(lambda text: text.replace("\n", "\n "))


def envelope(*bodies: str) -> str:
    return '{"translations": [' + ", ".join(bodies) + "]}"


def meant(found: list[dict[str, str]]) -> tuple[Item, ...]:
    return tuple(Item(item["id"], item["text"]) for item in found)


def single_quoted(value: object) -> str:
    """The JSON of `value` with single quotes around every string."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{single_quoted(key)}:{single_quoted(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(single_quoted, value)) + "]"
    if isinstance(value, str):
        return "'" + json.dumps(value)[1:-1].replace('\\"', '"').replace("'", "\\'") + "'"
    return json.dumps(value)


@given(item_lists, extras, st.booleans(), st.sampled_from([None, 2]), prose, prose)
def test_what_was_written_as_json_is_read_back(
    found: list[dict[str, str]], extra: dict[str, object], ascii_only: bool, indent: int | None, left: str, right: str
) -> None:
    for value in (found, {**extra, "translations": found}, {"translations": found, **extra}):
        body = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
        assert parse(body) == Parsed(meant(found), whole=True)
        around = parse(f"{left} {body} {right}")
        assert around is not None
        assert (around.items, around.repaired) == (meant(found), False)


@pytest.mark.parametrize("fence", ["```", "```json", "~~~", "````"])
def test_a_code_fence_around_an_envelope_is_no_part_of_it(fence: str) -> None:
    assert parse(f"{fence}\n{envelope(ONE)}\n{fence[:3]}") == Parsed((P1,), whole=True)
    assert parse(f"Here you are:\n{fence}\n[{ONE}]\n{fence[:3]}\nAnything else?") == Parsed((P1,))


@pytest.mark.parametrize(
    ("identity", "item"),
    [
        ('"p1"', Item("p1", "a")),
        ("7", Item("7", "a")),
        ("-7", Item("-7", "a")),
        ("9" * 5000, Item("9" * 5000, "a")),
        ("null", Item(None, "a")),
        ("7.0", Item(None, "a", odd_id=True)),
        ("7e0", Item(None, "a", odd_id=True)),
        ("true", Item(None, "a", odd_id=True)),
        ('["p1"]', Item(None, "a", odd_id=True)),
        ('{"id": "p1"}', Item(None, "a", odd_id=True)),
    ],
)
def test_an_id_is_text_or_a_whole_number(identity: str, item: Item) -> None:
    assert parse(f'[{{"id": {identity}, "text": "a"}}]') == Parsed((item,), whole=True)


@pytest.mark.parametrize("text", ["1", "null", "true", '["a"]', '{"de": "a"}', '{"text": "a"}'])
def test_a_text_is_a_string(text: str) -> None:
    assert parse(envelope(f'{{"id": "p1", "text": {text}}}')) == Parsed((Item("p1"),), whole=True)


def test_items_without_id_or_text_are_items() -> None:
    assert parse(envelope('{"text": "a"}', '{"id": "p1"}', "{}", '"a"', "[]", "1")) == Parsed(
        (Item(None, "a"), Item("p1"), Item(), Item(), Item(), Item()), whole=True
    )


@pytest.mark.parametrize("body", ["[]", '{"translations": []}', " [ ]\n", "```\n[]\n```"])
def test_an_empty_list_is_an_answer_without_items(body: str) -> None:
    assert parse(body) == Parsed((), whole=True)


@pytest.mark.parametrize("body", ['["Hallo"]', '```\n["Hallo", 1]\n```', "[[1]]", '[{"a": 1}]'])
def test_a_list_without_id_and_text_is_an_envelope_only_if_it_is_the_whole_body(body: str) -> None:
    found = parse(body)
    assert found is not None
    assert set(found.items) == {Item()}
    assert parse(f"See {body}") is None
    assert parse(f"{body} is all") is None


@pytest.mark.parametrize(
    "body",
    [
        "",
        "Music is a language of its own.",
        "{}",
        ONE,
        '{"p1": "eins"}',
        '{"translations": "eins"}',
        '{"translations": {"id": "p1", "text": "eins"}}',
        f'{{"Translations": [{ONE}]}}',
        f'{{"result": {envelope(ONE)}}}',
        f'{{"result": [{ONE}]}}',
        json.dumps({"text": envelope(ONE)}),
    ],
)
def test_only_a_mapping_with_translations_and_a_bare_list_are_envelopes(body: str) -> None:
    assert parse(body) is None
    assert parse(f"Here: {body}") is None


@pytest.mark.parametrize(
    "note",
    ["[note]", "{x}", "[1]", "{ }", '["a", "b"]', '{"a": 1}', '{"translations": [...]}', "[n", "(:]", "[]", "[[]]"],
)
def test_brackets_in_prose_disturb_nothing(note: str) -> None:
    assert parse(f"{note} {envelope(ONE)}") == Parsed((P1,))
    assert parse(f"{note} [{ONE}] ") == Parsed((P1,))


@pytest.mark.parametrize("note", ["[note]", "{x}", "[1]", '{"a": 1}', '{"a" and}', "}", "]"])
def test_brackets_in_prose_behind_disturb_nothing(note: str) -> None:
    assert parse(f"{envelope(ONE)} {note}") == Parsed((P1,))


def test_several_envelopes_are_read_together() -> None:
    assert parse(f"Source: {envelope(ONE)} Translation: [{TWO}, {ONE}]") == Parsed((P1, P2, P1))


def test_an_envelope_inside_a_text_is_text() -> None:
    inner = envelope(TWO)
    assert parse(json.dumps([{"id": "p1", "text": inner}])) == Parsed((Item("p1", inner),), whole=True)


@pytest.mark.parametrize(
    "body",
    [
        '[{"id": "p1", "text": "eins",},]',
        '{"translations": [{"id": "p1", "text": "eins",}, ], }',
        "[{'id': 'p1', 'text': 'eins'}]",
        "{'translations': [{\"id\": 'p1', 'text': \"eins\"}]}",
        f"[{ONE}",
        f"[{ONE},",
        f'{{"translations": [{ONE}',
        f'{{"translations": [{ONE}]',
        f'{{"translations": [{ONE}}}',
        f'{{"translations": [{ONE},}}',
        "{'translations': [{'id': 'p1', 'text': 'eins',}, ",
    ],
)
def test_each_of_the_three_repairs_and_all_together(body: str) -> None:
    for tail in ("", "\n", "\n```", "\nThat is all."):
        found = parse("```json\n" + body + tail)
        assert found is not None
        assert (found.items, found.repaired) == ((P1,), True)


@given(item_lists)
def test_single_quotes_hold_any_text(found: list[dict[str, str]]) -> None:
    for value in (found, {"translations": found}):
        assert parse(single_quoted(value)) == Parsed(meant(found), repaired=True, whole=True)


@settings(deadline=None)
@given(item_lists, st.booleans(), st.booleans())
def test_a_cut_anywhere_keeps_the_complete_items_and_changes_none(
    found: list[dict[str, str]], wrapped: bool, single: bool
) -> None:
    parts = [single_quoted(item) if single else json.dumps(item, ensure_ascii=False) for item in found]
    body = ('{"translations": [' if wrapped else "[") + parts[0]
    ends = [len(body)]
    for part in parts[1:]:
        body += ", " + part
        ends.append(len(body))
    body += "]}" if wrapped else "]"
    for cut in range(len(body)):
        complete = sum(end <= cut for end in ends)
        expected = Parsed(meant(found[:complete]), repaired=True) if complete else None
        assert parse(body[:cut]) == expected


@given(item_lists, extras, st.data())
def test_a_cut_inside_extra_keys_makes_nothing_up(
    found: list[dict[str, str]], extra: dict[str, object], data: st.DataObject
) -> None:
    nested = {"nested": {"translations": [{"id": "odd", "text": "odd"}]}}
    body = json.dumps({**extra, **nested, "translations": found, **nested, "more": extra})
    parsed = parse(body[: data.draw(st.integers(0, len(body)))])
    assert parsed is None or parsed.items == meant(found)[: len(parsed.items)]


@pytest.mark.parametrize(
    "rest", ['{"id": "p2", "text": "zwei"', '{"id": "p2", "text": "zw', '{"id": "p2", "text', "{", '{"id"']
)
def test_an_item_that_is_cut_off_is_left_out(rest: str) -> None:
    for body in (f"[{ONE}, {rest}", envelope(ONE)[:-2] + f", {rest}"):
        assert parse(body) == Parsed((P1,), repaired=True)
        assert parse(body + "\n```") == Parsed((P1,), repaired=True)


@pytest.mark.parametrize("closing", ["", "]", "]}", "}"])
def test_a_last_item_without_its_closing_brace_is_cut_off(closing: str) -> None:
    rest = ', {"id": "p2", "text": 2'
    kept = Parsed((P1, Item("p2")), repaired=True) if closing == "}" else Parsed((P1,), repaired=True)
    assert parse(f'{{"translations": [{ONE}{rest}{closing}') == kept


def test_of_a_cut_that_leaves_no_item_nothing_is_read() -> None:
    assert parse('{"translations": [{"id": "p1", "text": "ei') is None
    assert parse(f'{envelope(ONE)} Translated: {{"translations": [{{"id": "p1", "te') is None
    assert parse(f'{envelope(ONE)} Translated: {{"transl') is None


def test_brackets_behind_missing_brackets_are_not_passed_over() -> None:
    assert parse(f"[{ONE} and [{TWO}]") is None
    assert parse(f"[{ONE}\n[note]") is None


@pytest.mark.parametrize(
    "body",
    [
        '[{"id": "p1", "text": "ei\nns"}]',
        '[{"id": "p1", "text": "ei\tns"}]',
        '[{"id": "p1" "text": "eins"}]',
        f"[{ONE} {TWO}]",
        '[{id: "p1", text: "eins"}]',
        f"{{translations: [{ONE}]}}",
        f'"translations": [{ONE}]}}',
        f'{{"a": b, "translations": [{ONE}]}}',
        f"[{ONE}, // two\n{TWO}]",
        f"[{ONE}, /* two */ {TWO}]",
        '[{"id": "p1", "text": NaN}]',
        '[{"id": "p1", "text": None}]',
        '[{"id": "p1", "text": "eins", "done": True}]',
        '[{"id": "p1", "text": """eins"""}]',
        '[{"id": "p1", "text": `eins`}]',
        '[{"id": "p1", "text": "eins",,}]',
        f"[,{ONE}]",
        '[{"id": 01, "text": "eins"}]',
        '[{"id": +1, "text": "eins"}]',
        '[{"id": "p1", "text": "e\\ins"}]',
        '[{"id": "p1", "text": "e\\u00zz"}]',
        '[{"id": "p1", "text": "sagt "eins" dazu"}]',
        "[{'id': 'p1', 'text': 'it's'}]",
        '[{"id": "p1", "text": "eins", "more": ' + "[" * 100 + "]" * 100 + "}]",
    ],
)
def test_nothing_else_is_repaired(body: str) -> None:
    assert parse(body) is None
    assert parse(f"{envelope(TWO)} {body}") in (None, Parsed((P2,)))


@pytest.mark.parametrize(
    "body",
    [
        f"{envelope(ONE)} and {envelope(ONE[:-1] + ' oops}')}",
        envelope('{"id": "p1" , "text": "see [' + ONE.replace('"', "'") + ']" oops}'),
    ],
)
def test_a_broken_envelope_is_not_passed_over(body: str) -> None:
    assert parse(body) is None


@pytest.mark.parametrize(
    "body",
    [
        '[{"id": "p1", "text": "eins", "text": "zwei"}]',
        '[{"id": "p1", "text": "eins", "id": "p2"}]',
        '[{"id": "p1", "text": "eins", "\\u0069d": "p2"}]',
        f'{{"translations": [{ONE}], "translations": [{TWO}]}}',
        f'{{"translations": null, "translations": [{TWO}]}}',
        f'[{ONE}, {{"id": "p2", "text": "zwei", "text": "drei"',
    ],
)
def test_a_doubled_key_is_told(body: str) -> None:
    found = parse(body)
    assert found is not None
    assert found.doubled


def test_other_keys_may_be_doubled() -> None:
    assert parse('[{"id": "p1", "n": 1, "text": "eins", "n": 2}]') == Parsed((P1,), whole=True)


def test_escapes_are_read_as_json_reads_them() -> None:
    assert parse(r"""[{"id": "p1", "text": "\"\\\/\b\f\n\r\t\u00e4\ud83d\ude00'"}]""") == Parsed(
        (Item("p1", "\"\\/\b\f\n\r\tä😀'"),), whole=True
    )
    assert parse(r"""[{'id': 'p1', 'text': 'it\'s "\u00e4" \\'}]""") == Parsed(
        (Item("p1", 'it\'s "ä" \\'),), repaired=True, whole=True
    )


_WIRE_SCRAPS = ["null", "-1", '"id":', '"text":', "'id':", '{"translations": [', "\ud800", "\\u", ONE, envelope(ONE)]


@given(st.lists(st.sampled_from(SCRAPS + _WIRE_SCRAPS) | texts, max_size=30).map("".join))
def test_no_body_raises(body: str) -> None:
    found = parse(body)
    assert found is None or isinstance(found, Parsed)


@pytest.mark.parametrize(
    "scrap",
    [
        *("[", "{", "'", "\\", "[ ", "{}", '{"', '["', "['", "[1,", "[1x", "[1] ", '"\\"', "```", "[" * 31 + "x"),
        *('{"a":', '{"translations":[', '[{"id":1,"text":"', '[{"id":"\\'),
        *('["[",",",', '["[],",",",', "['\"[1,',", "[1,'[\"',\"[1,'\","),
    ],
)
def test_the_work_is_linear_in_the_length_of_the_body(scrap: str) -> None:
    for body in (scrap * (1_000_000 // len(scrap)), scrap * 31 + " " * 1_000_000 + scrap * 31):
        found = parse(body)
        assert found is None or set(found.items) == {Item()}


def test_a_body_of_ten_million_brackets_is_not_parsed() -> None:
    assert parse("[" * 10_000_000) is None


def test_a_body_that_would_have_to_be_read_over_and_over_is_given_up() -> None:
    for times, expected in ((10, Parsed((P1,))), (100_000, None)):
        assert parse("[" * 31 + "1," * times + "x] " + envelope(ONE)) == expected


def test_no_text_shows_in_what_was_read() -> None:
    assert "eins" not in repr(parse(envelope(ONE)))
