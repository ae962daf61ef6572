"""The page about metrics lists each of them as the exporters have it."""

from __future__ import annotations

import re
from pathlib import Path

import attrs

from dragoman import (
    AckStatus,
    CloseCause,
    ExecutionStatus,
    MissReason,
    RegisterStatus,
    SessionEnd,
    Settings,
)
from dragoman.metrics import METRICS, Metric

PAGE = (Path(__file__).parent.parent.parent / "docs" / "metrics.md").read_text(encoding="utf-8")


def row(metric: Metric) -> str:
    labels = ", ".join(f"`{label}`" for label in metric.labels)
    return f"| `{metric.exported_as}` | {metric.kind.value} | {labels} | {metric.help} |"


def test_the_table_of_the_page_is_that_of_the_exporters() -> None:
    listed = [line for line in PAGE.splitlines() if re.match(r"\| `dragoman_\w+` \| (counter|gauge|histogram) ", line)]
    assert listed == [row(metric) for metric in METRICS]


def test_every_name_in_a_condition_is_a_metric_or_a_setting() -> None:
    alerts = PAGE.partition("## What to alert on")[2].partition("## Every metric")[0]
    conditions = [re.split(r"(?<!\\\\) \| ", line)[0] for line in alerts.splitlines() if line.startswith("| ")][1:]
    known = {name for metric in METRICS for name in (metric.name, metric.exported_as)}
    known |= {field.name for field in attrs.fields(Settings)} | {"dragoman_up", "rate"}
    assert len(conditions) > 15
    for condition in conditions:
        code = " ".join(re.findall(r"`([^`]+)`", condition))
        names = set(re.findall(r"[a-z_]+", re.sub(r"\{[^}]*\}", "", code)))
        assert names, condition
        assert names <= known, condition


def test_every_word_in_a_condition_is_one_that_a_label_can_have() -> None:
    matched = re.findall(r"(\w+)\{(\w+)=~?\"([^\"]+)\"\}", PAGE)
    words = {
        "cause": {*CloseCause, "UNKNOWN"},
        "status": {*AckStatus, *RegisterStatus},
        "end": set(SessionEnd),
        "reason": {*MissReason, "closed", "stopped"},
        "execution": set(ExecutionStatus),
    }
    labels = {name: metric.labels for metric in METRICS for name in (metric.name, metric.exported_as)}
    assert len(matched) > 8
    for name, label, alternatives in matched:
        assert label in labels.get(name, ("runtime",)), name
        if label != "runtime":
            assert set(alternatives.replace("\\", "").split("|")) <= words[label], name
