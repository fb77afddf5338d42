"""First figures of sessions: read from XProf's own answers in the background, and kept in the registry."""
