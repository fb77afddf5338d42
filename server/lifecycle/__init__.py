"""How long things are kept: when a session is due, and the job that deletes what is (`xprof-hub prune`)."""
