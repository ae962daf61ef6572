"""Exporters of what a runtime counts, and spans of what it executes: for Prometheus and OpenTelemetry.

Importing them needs no extra; making one does, and raises `MissingExtra` where it is not installed. Nothing here runs
unless it is asked to, and no text of a translation is in anything that leaves.
"""

from __future__ import annotations

from ..missing import MissingExtra
from .instruments import OpenTelemetryMetrics
from .prometheus import PrometheusCollector
from .table import METRICS, Kind, Metric
from .tracing import Tracing

__all__ = [
    "METRICS",
    "Kind",
    "Metric",
    "MissingExtra",
    "OpenTelemetryMetrics",
    "PrometheusCollector",
    "Tracing",
]
