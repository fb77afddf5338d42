"""Who calls: people who have signed in, programs with tokens, and what is told to all others."""
