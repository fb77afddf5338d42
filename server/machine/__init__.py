"""What this process has of its machine, and how its log is written."""
