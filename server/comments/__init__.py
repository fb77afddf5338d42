"""What people say about a session: who may change it, and how its text is shown. No route and no query."""
