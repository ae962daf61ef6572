"""Results as text and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from .expectations import shown
from .replayer import Failure, Result

__all__ = ["as_json", "as_lines"]


def _plain(failure: Failure) -> dict[str, Any]:
    return {
        "line": failure.line,
        "step": failure.step,
        "expected": _finite(shown(failure.expected)),
        "actual": _finite(failure.actual),
        "message": failure.message,
    }


def _finite(value: Any) -> Any:
    """JSON knows no NaN and no infinity: they are shown as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    return [_finite(inner) for inner in value] if isinstance(value, list) else value


def as_json(results: Sequence[Result], *, ascii_only: bool = False) -> str:
    """One JSON array, in the shape of the language page."""
    return json.dumps(
        [
            {
                "file": result.file,
                "scenario": result.scenario,
                "passed": result.passed,
                "invalid": result.invalid,
                "failures": [_plain(failure) for failure in result.failures],
            }
            for result in results
        ],
        ensure_ascii=ascii_only,
        allow_nan=False,
        indent=2,
        default=str,
    )


def as_lines(result: Result) -> list[str]:
    """A failed result as text: a line a failure, with what was expected and what was so."""
    lines = []
    for failure in result.failures:
        where = "then" if failure.step is None else f"step {failure.step}"
        lines.append(f"{result.file}:{failure.line}: {where}: {failure.message}")
        if failure.expected is not None or failure.actual is not None:
            lines.append(f"    expected {json.dumps(shown(failure.expected), ensure_ascii=False, default=str)}")
            lines.append(f"    actual   {json.dumps(failure.actual, ensure_ascii=False, default=str)}")
    return lines
