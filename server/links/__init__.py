"""Share links: made, opened, guarded, and what they may show."""
