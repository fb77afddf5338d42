"""Who converts when, and with how much memory: the line before a worker's conversions."""
