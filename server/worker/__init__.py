"""The worker's own process: what it answers to front ends, and whether it can."""
