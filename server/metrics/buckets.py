"""The buckets of all histograms, in one place, so that times of different parts can be laid side by side."""

from __future__ import annotations

FIRST_BYTE_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
"""What a person waits for an answer to begin."""
CONVERSION_SECONDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
"""Conversions, their parts, and waiting for them."""
MEMORY_RATIOS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 4.0)
MEMORY_MEGABYTES = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
