"""From bytes to text and back, or not at all."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.documents.encodings import decode
from dragoman.documents.invalid import InvalidDocument


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_byte_order_mark_decides_and_is_written_again(mark: bytes, encoding: str) -> None:
    source = mark + "Käse".encode(encoding)
    decoded = decode(source, "ascii", document="d")
    assert (decoded.text, decoded.encoding, decoded.mark) == ("Käse", encoding, mark)
    assert decoded.encode(decoded.text) == source


def test_the_declared_encoding_is_used_and_utf_8_without_one() -> None:
    assert decode(b"K\xe4se", "latin-1", document="d").text == "Käse"
    assert decode("Käse".encode(), None, document="d").text == "Käse"
    assert decode("Käse".encode(), "utf-8-sig", document="d").encode("ä") == "ä".encode()


def test_text_is_written_as_utf_8() -> None:
    assert decode("Käse", "latin-1", document="d").encode("Käse") == "Käse".encode()


@pytest.mark.parametrize(
    ("source", "declared"),
    [
        (b"secret \xff", None),
        (b"secret \xff", "ascii"),
        (b"secret", "no-such-encoding"),
        (b"secret", "a\0b"),
        (b"secret", "rot13"),
        (b"secret", "base64"),
        (b"secret", "utf-16"),
        (b"+AHMAZQBj-ret", "utf-7"),
        (b"secret\0", None),
        (b"secret\0", "latin-1"),
        ("secret\0", None),
        ("secret \ud800", None),
        (codecs.BOM_UTF16_LE + b"secrets", None),
    ],
)
def test_what_cannot_be_read_is_refused_without_its_text(source: bytes | str, declared: str | None) -> None:
    with pytest.raises(InvalidDocument) as refused:
        decode(source, declared, document="d.txt")
    assert str(refused.value).startswith("d.txt: ")
    assert "secret" not in str(refused.value)
    assert refused.value.__context__ is None


def test_no_repr_shows_the_text() -> None:
    assert "secret" not in repr(decode("secret", None, document="d"))


@given(
    st.binary(max_size=40),
    st.sampled_from([None, "utf-8", "latin-1", "cp1252", "shift_jis", "iso2022_jp", "utf-16-le"]),
)
def test_what_is_read_can_be_written_without_loss(source: bytes, declared: str | None) -> None:
    try:
        decoded = decode(source, declared, document="d")
    except InvalidDocument:
        return
    assert decoded.encode(decoded.text) == source
