"""Documents as files: which kind a file is, where its translation goes, and reading and writing it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import attrs

from .documents import Document, HtmlDocument, InvalidDocument, MarkdownDocument, PlainText, Subtitles
from .whole_file import is_writable_place

__all__ = ["KINDS", "DocumentFile", "UnusableFile", "open_files"]

KINDS: dict[str, type[Document]] = {
    "html": HtmlDocument,
    "markdown": MarkdownDocument,
    "subtitles": Subtitles,
    "text": PlainText,
}
_SUFFIXES = {
    ".htm": "html",
    ".html": "html",
    ".xhtml": "html",
    ".markdown": "markdown",
    ".md": "markdown",
    ".ass": "subtitles",
    ".srt": "subtitles",
    ".ssa": "subtitles",
    ".vtt": "subtitles",
    ".text": "text",
    ".txt": "text",
}
_MAX_BYTES = 64 * 1024 * 1024


class UnusableFile(Exception):
    """A file cannot be translated; the text says which and why, in one line."""


@attrs.frozen(kw_only=True)
class DocumentFile:
    """A file to be translated: `document` was read from `path`, and its translation goes to `out`."""

    path: Path
    out: Path
    document: Document


def open_files(
    paths: Sequence[Path],
    out: Path | None,
    *,
    kind: str | None,
    target_language: str,
    source_language: str | None,
    encoding: str | None,
) -> list[DocumentFile]:
    """Read all files, before anything is asked of a provider; raises `UnusableFile` for the first that will not do."""
    files: list[DocumentFile] = []
    outs: dict[str, Path] = {}
    sources = {os.path.realpath(path) for path in paths}
    for path in paths:
        if not path.is_file():
            raise UnusableFile(f"{path}: {'is no regular file' if path.exists() else 'does not exist'}")
        place = _out_of(path, out, target_language, several=len(paths) > 1)
        real = os.path.realpath(place)
        if real in sources:
            raise UnusableFile(f"{place}: is a file to be translated; name another with -o")
        if real in outs:
            raise UnusableFile(f"{place}: is where {outs[real]} and {path} would both go")
        outs[real] = path
        problem = is_writable_place(place)
        if problem is not None:
            raise UnusableFile(f"{place}: {problem}")
        document = _read(path, kind, target_language, source_language, encoding)
        files.append(DocumentFile(path=path, out=place, document=document))
    return files


def _out_of(path: Path, out: Path | None, target_language: str, *, several: bool) -> Path:
    name = f"{path.stem}.{target_language}{path.suffix}"
    if out is None:
        return path.with_name(name)
    if several and not out.is_dir():
        raise UnusableFile(f"{out}: is no folder, and several files are to be translated")
    return out / name if out.is_dir() else out


def _read(
    path: Path, kind: str | None, target_language: str, source_language: str | None, encoding: str | None
) -> Document:
    kind = kind or _SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise UnusableFile(f"{path}: what is it? Name it with --format ({', '.join(KINDS)})")
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise UnusableFile(f"{path}: is larger than {_MAX_BYTES // 2**20} MiB")
        content = path.read_bytes()
    except OSError as error:
        raise UnusableFile(f"{path}: cannot be read: {error.strerror}") from None
    try:
        return KINDS[kind](
            content,
            document=str(path.resolve()),
            target_language=target_language,
            source_language=source_language,
            encoding=encoding,
        )
    except InvalidDocument as error:
        raise UnusableFile(f"{path}: {error.problem}") from None
