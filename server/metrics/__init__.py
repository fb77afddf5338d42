"""What a process counts and times, as Prometheus metrics; labels are from fixed sets."""
