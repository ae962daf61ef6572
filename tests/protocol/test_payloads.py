"""Payloads: what is stored of a value (language page, "Continuity verbs", "Smaller rulings"; P constraint 5)."""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections import ChainMap, Counter, OrderedDict, UserDict, namedtuple
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from itertools import count, repeat
from types import MappingProxyType
from typing import Any, NoReturn

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dragoman.protocol.payloads import Payload, serialize, text_payload, texts_bytes, value_in
from dragoman.protocol.statuses import ContentKind, SerializationMode, SkipReason

MANY = 1 << 20
FAILED = SkipReason.SERIALIZATION_FAILED
TOO_LARGE = SkipReason.ENTRY_EXCEEDS_MAX_BYTES

any_text = st.text(st.characters(exclude_categories=()))  # lone surrogates and control characters too
finite = st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | st.integers() | st.integers(-(10**60), 10**60) | finite | any_text
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=6) | st.dictionaries(any_text, inner, max_size=6), max_leaves=30
)
"""Everything that JSON can express, in the types that it is read back as."""
odd_values = st.dictionaries(st.integers() | finite, values, max_size=4) | st.frozensets(scalars, max_size=4)


class Opaque:
    """An object that JSON cannot express."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __str__(self) -> str:
        return self._name


def stored(value: object) -> Payload:
    payload = serialize(value, MANY)
    assert isinstance(payload, Payload), payload
    return payload


def written(value: object, mode: str = "json") -> str:
    """The text that is stored of `value`, in that mode."""
    payload = stored(value)
    assert payload.mode == mode
    return payload.body.decode()


def odd(base: type, **methods: Any) -> Any:
    """A class whose instances do not do what those of `base` do."""
    return type("Odd", (base,), methods)


def fail(*_: object) -> NoReturn:
    raise ZeroDivisionError


def nested(levels: int, inner: object = 0) -> object:
    """A value of that many levels around `inner`, lists and dicts by turns."""
    for level in range(levels):
        inner = [inner] if level % 2 else {"in": inner}
    return inner


@given(values)
def test_what_json_can_express_comes_back_equal(value: object) -> None:
    payload = stored(value)
    assert payload.mode is SerializationMode.JSON
    assert value_in(payload.body) == value
    assert repr(value_in(payload.body)) == repr(value)  # types, the order of keys and the sign of zero too


@given(values)
def test_the_bytes_are_those_of_compact_utf8_json(value: object) -> None:
    payload = stored(value)
    expected = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
    assert (payload.body, payload.bytes) == (expected, len(expected))
    assert payload.digest == hashlib.sha256(expected).hexdigest()


@given(values | odd_values)
@example([0, 0.0, "a"])
@example(0.0)
@example({1: 0})
@example([10**4000])
@example([b"abc"])
def test_an_entry_of_exactly_the_limit_is_stored_and_one_byte_more_is_not(value: object) -> None:
    payload = stored(value)
    assert serialize(value, payload.bytes) == payload
    assert serialize(value, payload.bytes - 1) is TOO_LARGE


KINDS = {
    "object": ["{}", '{"a":1}', '{"b":[],"a":{"d":2,"c":3}}'],
    "array": ["[]", '[1,"b",[null]]'],
    "string": ['""', '"Grüße 😀"', '"\\u0000\\n\\"\\\\"'],
    "number": ["0", "-1", "12345678901234567890", "1.0", "-0.0", "1e+100", "5e-324"],
    "boolean": ["true", "false"],
    "null": ["null"],
}


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in KINDS.items() for text in texts])
def test_each_kind_of_json_is_written_as_it_is(kind: str, text: str) -> None:
    assert written(json.loads(text)) == text
    assert stored(json.loads(text)).kind == kind


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\ud83d\ude00", "\\ud800", "\\\ud800", '"\udc00"'])
def test_lone_surrogates_are_escaped_and_come_back(text: str) -> None:
    for value in (text, [text, text], {text: text, "😀": 1}):
        assert value_in(written(value).encode()) == value
    assert written([text, "ä"]) == json.dumps([text, "ä"], separators=(",", ":")).replace("\\u00e4", "ä")


def test_a_payload_shows_no_content() -> None:
    payload = stored({"canary": "canary"})
    assert "canary" not in repr(payload)
    assert "<19 bytes>" in repr(payload)


@pytest.mark.parametrize("key", [10, -1, 1.5, 1e100, -0.0, math.nan, math.inf, -math.inf])
def test_number_keys_become_text_as_json_writes_them(key: float) -> None:
    assert written([{"before": 0, key: 1}]) == json.dumps([{"before": 0, key: 1}], separators=(",", ":"))


@pytest.mark.parametrize("key", [True, False, None, (1,), b"a", Decimal(1), Opaque("a"), date(2024, 1, 1), 1j])
def test_a_key_that_is_neither_text_nor_number_fails(key: object) -> None:
    assert serialize({key: 1}, MANY) is FAILED
    assert serialize([MappingProxyType({"a": 1, key: 1})], MANY) is FAILED


def test_of_two_keys_that_become_equal_the_later_value_counts() -> None:
    assert written({1: "first", "a": 0, "1": "last"}) == '{"1":"last","a":0}'
    assert written({"1": "first", 1: "last"}) == '{"1":"last"}'
    assert written({math.nan: 1, float("nan"): 2}) == '{"NaN":2}'


@pytest.mark.parametrize("dropped", [Opaque("a"), nested(101), {True: 1}, "a" * 100])
def test_a_value_whose_key_comes_again_has_no_effect(dropped: object) -> None:
    assert serialize({1: dropped, "1": "b"}, 10) == stored({"1": "b"})


Plain = Enum("Plain", {"RED": "red"})
Colour = StrEnum("Colour", {"RED": "red"})
Level = IntEnum("Level", {"HIGH": 3})
Pair = Enum("Pair", {"ONE": (1, 2)}, type=tuple)

NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
BINARIES = {"AP8=": b"\x00\xff", "YWJj": bytearray(b"abc"), "YWI=": memoryview(b"ab"), "YWM=": memoryview(b"abc")[::2]}
NOON = datetime(2024, 2, 29, 12, tzinfo=UTC)
MOMENTS = {"2024-02-29": date(2024, 2, 29), "2024-02-29T12:00:00+00:00": NOON, "12:30:00": time(12, 30)}
OPAQUE = [Opaque("a"), Opaque("\ud800"), Decimal("1.50"), 1j, timedelta(1), OSError("b"), Plain.RED, Pair.ONE, object()]
LEAVES = NUMBERS | BINARIES | MOMENTS | {str(leaf): leaf for leaf in OPAQUE}


@pytest.mark.parametrize(("text", "leaf"), LEAVES.items(), ids=map(ascii, LEAVES))
def test_a_leaf_that_json_cannot_express_is_stored_as_text(text: str, leaf: object) -> None:
    alone, array, mapping = stored(leaf), stored([[], (1, leaf)]), stored({"a": {"b": leaf}, "c": 1})
    assert (alone.kind, array.kind, mapping.kind) == ("fallback", "array", "object")
    assert alone.mode is array.mode is mapping.mode is SerializationMode.FALLBACK
    assert value_in(alone.body) == text
    assert value_in(array.body) == [[], [1, text]]
    assert value_in(mapping.body) == {"a": {"b": text}, "c": 1}


def test_a_leaf_of_a_subclass_is_written_by_the_rule_of_its_base() -> None:
    day = odd(date, isoformat=fail, __str__=fail)(2024, 1, 2)
    text = odd(object, __str__=lambda _: OddText("a"))()
    assert written([day, odd(bytes, __bytes__=fail)(b"abc"), text], "fallback") == '["2024-01-02","YWJj","a"]'


def test_tuples_are_arrays() -> None:
    assert written((1, (), namedtuple("Point", "x y")(1, 2))) == "[1,[],[1,2]]"


def test_mappings_are_objects_in_their_own_order() -> None:
    moved = OrderedDict(a=2, b=1)
    moved.move_to_end("a")
    same = {"b": 1, "a": 2}
    for value in (moved, MappingProxyType(same), UserDict(same), Counter(same), ChainMap(same), odd(dict)(same)):
        assert written([value]) == '[{"b":1,"a":2}]'


OddText = odd(str, __str__=fail, __len__=fail, __eq__=fail, __hash__=object.__hash__, encode=fail)
OddInt = odd(int, __str__=fail, __repr__=fail, __int__=fail, __index__=fail, __lt__=fail)
OddFloat = odd(float, __str__=fail, __repr__=fail, __float__=fail, __sub__=fail)


def test_texts_and_numbers_of_subclasses_are_written_by_their_plain_value() -> None:
    plain = {'"red"': Colour.RED, "3": Level.HIGH, '"a"': OddText("a"), "7": OddInt(7), "-0.0": OddFloat(-0.0)}
    for text, value in plain.items():
        assert written(value) == text
        assert written([value, {"a": value}]) == f'[{text},{{"a":{text}}}]'
    assert written({Colour.RED: 1, Level.HIGH: 2, OddInt(7): 3, OddFloat(1.5): 4}) == '{"red":1,"3":2,"7":3,"1.5":4}'
    assert written({OddText("a"): 1, OddText("a"): 2}) == '{"a":2}'


@pytest.mark.parametrize("make", [set, frozenset, odd(set), odd(frozenset)])
def test_a_set_is_an_array_in_the_order_of_its_json(make: Callable[[object], object]) -> None:
    value = make(["ä", "b", 10, 9, None, (2, 1), "\ud800", frozenset("ba")])
    assert written(value, "fallback") == '["\\ud800","b","ä",10,9,["a","b"],[2,1],null]'
    assert stored(value).kind is ContentKind.ARRAY
    assert written({"a": make([])}, "fallback") == '{"a":[]}'


def test_no_method_of_an_array_or_set_is_asked() -> None:
    for base in (list, tuple, set, frozenset):
        assert stored(odd(base, __iter__=fail, __len__=fail, copy=fail)([1])).body == b"[1]"


@pytest.mark.parametrize("leaf", [0, "a", Opaque("a"), 10**50])
def test_a_hundred_levels_are_stored_and_one_more_fails(leaf: object) -> None:
    assert isinstance(serialize(nested(100, leaf), MANY), Payload)
    assert serialize(nested(101, leaf), MANY) is FAILED


@pytest.mark.parametrize("empty", [[], {}, (), set(), UserDict()])
def test_an_empty_container_is_a_level(empty: object) -> None:
    assert isinstance(serialize(nested(99, empty), MANY), Payload)
    assert serialize(nested(100, empty), MANY) is FAILED


def test_a_shared_value_has_its_depth_wherever_it_stands() -> None:
    shared = [nested(49), []]
    assert isinstance(serialize([shared, nested(49, shared)], MANY), Payload)
    assert serialize([shared, nested(50, shared)], MANY) is FAILED


def test_a_cyclic_value_fails_however_large_its_expansion() -> None:
    array: list[object] = ["a" * 1000]
    array.append(array)
    mapping: dict[str, object] = {}
    mapping["a"] = [(mapping,)]
    user = UserDict[str, object]()
    user["a"] = user
    for value in (array, mapping, user, (1, {"a": array})):
        assert serialize(value, 1020) is FAILED


def test_a_shared_acyclic_value_is_written_wherever_it_stands() -> None:
    inner: list[object] = [1, [2]]
    assert written({"a": inner, "b": [inner, inner]}) == '{"a":[1,[2]],"b":[[1,[2]],[1,[2]]]}'


def test_a_value_that_expands_without_end_is_soon_too_large() -> None:
    array: object = []
    mapping: object = 0
    for _ in range(60):
        array, mapping = [array, array], UserDict(a=mapping, b=mapping)
    assert serialize(array, 1 << 50) is TOO_LARGE
    assert serialize(mapping, 1 << 50) is TOO_LARGE


@pytest.mark.parametrize("item", ["a" * MANY, {"a" * MANY: 1}, 9**4000, [[0] * 1000]])
def test_many_references_to_one_large_item_are_soon_too_large(item: object) -> None:
    assert serialize([item] * MANY, 1 << 30) is TOO_LARGE


def test_a_later_change_of_the_original_changes_nothing() -> None:
    value: Any = {"a": [1, {"b": {2}}]}
    payload = stored(value)
    value["a"][1]["b"].add(3)
    value["a"].append(4)
    assert value_in(payload.body) == {"a": [1, {"b": [2]}]}


def test_a_change_of_what_was_fetched_changes_nothing() -> None:
    inner = [1, {"b": 2}]
    payload = stored([inner, inner])
    fetched = value_in(payload.body)
    fetched[0][1]["b"] = 3
    assert fetched[1] == inner
    assert value_in(payload.body) == [inner, inner]


def test_storing_leaves_the_value_as_it_is() -> None:
    inner = [Opaque("a"), (1,), {2}, [[]]]
    value = {1: inner, "b": inner}
    before = (list(inner), dict(value))
    stored(value)
    assert (inner, value) == before
    assert value[1] is value["b"] is inner


class Liar(Mapping[Any, Any]):
    """A mapping that says whatever it is told to."""

    def __init__(self, items: Callable[[], Any]) -> None:
        self.items = items

    __getitem__ = __iter__ = __len__ = fail


def grow() -> Iterator[tuple[str, None]]:
    members = {"a": 0}
    return ((key, members.update({key + "a": 0})) for key in members)


HOSTILE: dict[str, object] = {
    "its text raises": odd(object, __str__=fail)(),
    "its text is none": odd(object, __str__=len)(),
    "its text recurses": odd(object, __repr__=repr)(),
    "its type raises": type("Meta", (type,), {"__hash__": fail, "__eq__": fail})("Odd", (Opaque,), {})("a"),
    "its items raise": Liar(fail),
    "its items are numbers": Liar(lambda: [1]),
    "its items are texts": Liar(lambda: ["ab"]),
    "its items are triples": Liar(lambda: [("a", 1, 2)]),
    "its items recurse": Liar(lambda: stored(HOSTILE["its items recurse"])),
    "its items stop": Liar(lambda: next(iter(()))),
    "its items are refused": odd(dict, items=fail)(a=1),
    "its items grow": Liar(grow),
    "its zone raises": datetime(2024, 1, 1, tzinfo=odd(tzinfo, utcoffset=fail)()),
    "it has too many digits": 10**4300,
    "it has too many digits below zero": -(10**4300),
    "its key has too many digits": {10**4300: 1},
}


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)
def test_what_cannot_be_written_fails(value: object) -> None:
    assert serialize(value, MANY) is FAILED
    assert serialize([1, {"a": (value,)}], MANY) is FAILED


def test_a_class_that_lies_is_not_believed_and_one_that_raises_is_not_asked() -> None:
    liar = odd(Opaque, __class__=property(lambda _: dict))("a liar")
    assert written([liar, odd(Opaque, __class__=property(fail))("b")], "fallback") == '["a liar","b"]'


def test_the_most_digits_that_are_stored_are_those_that_an_interpreter_reads_by_default() -> None:
    for number in (10**4300 - 1, 1 - 10**4300):
        assert value_in(stored([number, {number: 1}]).body) == [number, {str(number): 1}]
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    results = {serialize(10**4300, MANY), serialize({10**4300: 1}, MANY)}
    sys.set_int_max_str_digits(limit)
    assert results == {FAILED}


def test_what_changes_while_it_is_walked_is_stored_as_it_was() -> None:
    value: list[Any] = []
    inner: dict[str, Any] = {"a": odd(object, __str__=lambda _: value.clear() or inner.clear() or "x")(), "b": 2}
    value += [1, inner, 3]
    assert written(value, "fallback") == '[1,{"a":"x","b":2},3]'


def test_mappings_without_end_come_to_one() -> None:
    def children() -> list[tuple[str, object]]:
        return [("a", Liar(children)), ("b", Liar(children))]

    assert serialize(Liar(lambda: ((str(place), 0) for place in count())), 10_000) is TOO_LARGE
    assert serialize(Liar(lambda: repeat(("a", 0))), MANY) is FAILED
    assert serialize(Liar(children), MANY) is FAILED


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_is_no_exception_passes_through(interruption: type[BaseException]) -> None:
    def interrupt(*_: object) -> NoReturn:
        raise interruption

    with pytest.raises(interruption):
        serialize([Liar(interrupt)], MANY)


def test_a_nearly_full_stack_fails_and_raises_nothing() -> None:
    def at(depth: int, action: Callable[[], object]) -> object:
        return at(depth - 1, action) if depth else action()

    found = set()
    value = nested(40, Opaque("a"))
    for depth in range(sys.getrecursionlimit()):
        try:
            at(depth, lambda: (lambda: None)())
        except RecursionError:
            break
        result = at(depth, lambda: serialize(value, MANY))
        found.add(result if isinstance(result, SkipReason) else "stored")
    assert found == {FAILED, "stored"}


@given(any_text)
def test_the_bytes_of_a_text_are_those_of_its_payload(text: str) -> None:
    payload = text_payload(text)
    assert texts_bytes([text, "", text]) == [payload.bytes, 2, payload.bytes]
    assert payload.bytes == len(payload.body)
    assert payload == stored(text)
    assert value_in(payload.body) == text
