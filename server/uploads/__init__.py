"""Uploads: a host's profile that comes through the API instead of from a bucket. No route and no schema."""
