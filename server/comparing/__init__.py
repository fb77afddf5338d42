"""Two sessions side by side: what differs in their figures, and in the configuration of their runs."""
