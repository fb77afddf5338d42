"""Many callers, threads and workers that want the same: who makes it, who waits, and how far it is."""
