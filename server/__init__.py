"""HTTP, pages, command line and composition: the only place that knows both `auth` and `loader`."""
