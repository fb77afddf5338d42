"""The commands of `xprof-hub` that talk to a running hub."""
