"""Benchmarks: what the guarantees of Dragoman cost, as ratios within one run; `python -m benchmarks`."""
