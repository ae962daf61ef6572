"""The summary of a `translate` run: for a person, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .operation_report import DocumentReport, OperationReport

__all__ = ["as_json", "as_lines", "reason_in_words"]

_WORDS = {
    "UNTRANSLATED": "the answer was the source itself",
    "WRONG_SCRIPT": "the answer was not in the script of the language",
    "STRUCTURE": "the answer would have changed the structure of the document",
    "SEGMENTS": "the answer had other segments",
    "NOT_CLEAN": "the answer was no clean text",
    "FAULTY": "the document could not take the answer",
    "NETWORK_ERROR": "the provider could not be reached, or broke off",
    "RATE_LIMIT_REACHED": "the provider wanted fewer calls",
    "QUOTA_EXCEEDED": "the quota of the key is used up",
    "INSUFFICIENT_BALANCE": "the account of the key has no balance",
    "API_KEY_INVALID": "the provider refused the key",
    "API_RESPONSE_INVALID": "the answers could not be used",
    "SERVER_ERROR": "the provider failed",
    "MODEL_OVERLOADED": "the model was overloaded",
    "VALIDATION": "the provider refused the request: is the name of the model right?",
    "TEXT_TOO_LONG": "too long for the model",
    "POLICY": "the provider declined to translate it",
    "PROVIDER_FAULT": "the provider's code failed",
    "TRANSLATION_TIMEOUT": "it took too long; see --timeout",
    "USER_CANCELLED": "interrupted",
    "COMMAND_FAILED": "the command failed",
}


def reason_in_words(reason: str) -> str:
    """What a reason means, for a person; the reason itself where there is nothing to add."""
    return _WORDS.get(reason, reason)


def as_lines(report: OperationReport, files: Mapping[str, tuple[Path, Path]], written: set[str]) -> Iterator[str]:
    """The summary of a run: a line a document, one for each reason why parents kept their source, and the costs."""
    for document in report.documents:
        path, out = files[document.document]
        resumed = f", {document.resumed} of them in an earlier run" if document.resumed else ""
        place = str(out) if document.document in written else "not written"
        yield f"{path} → {place}: {document.accepted} of {document.parents} translated{resumed}"
        by_reason: dict[str, list[str]] = {}
        for kept in document.kept:
            by_reason.setdefault(kept.reason, []).append(kept.parent_id)
        for reason, parents in by_reason.items():
            words = reason_in_words(reason)
            yield f"  source kept, {reason}{f' ({words})' if words != reason else ''}: {', '.join(parents)}"
    tokens = ""
    if report.input_tokens is not None or report.output_tokens is not None:
        tokens = f", {report.input_tokens or 0} tokens in, {report.output_tokens or 0} out"
    yield f"{report.calls} calls, {report.retries} retries{tokens}, {report.seconds:.1f} s"
    if report.unrecorded:
        yield f"{report.unrecorded} requests could not be recorded: a run that resumes will ask for them again"


def as_json(report: OperationReport, files: Mapping[str, tuple[Path, Path]], written: set[str]) -> dict[str, Any]:
    """The same as one object; absent facts are null."""
    return {
        "complete": report.complete,
        "interrupted": report.interrupted,
        "gave_up": report.gave_up,
        "parents": report.parents,
        "accepted": report.accepted,
        "resumed": report.resumed,
        "calls": report.calls,
        "retries": report.retries,
        "input_tokens": report.input_tokens,
        "output_tokens": report.output_tokens,
        "seconds": round(report.seconds, 3),
        "unrecorded_requests": report.unrecorded,
        "documents": [_document(document, files, written) for document in report.documents],
    }


def _document(document: DocumentReport, files: Mapping[str, tuple[Path, Path]], written: set[str]) -> dict[str, Any]:
    path, out = files[document.document]
    return {
        "file": str(path),
        "out": str(out) if document.document in written else None,
        "parents": document.parents,
        "accepted": document.accepted,
        "resumed": document.resumed,
        "kept": [{"parent": kept.parent_id, "reason": kept.reason} for kept in document.kept],
    }
