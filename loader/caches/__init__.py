"""What is kept of conversions: finished answers, artifacts for other tools, and how both are read."""
