"""Real services for the tests: Redis, PostgreSQL, a GCS emulator, Chromium, and XProf Hub's own processes."""
