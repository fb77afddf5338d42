"""Google's managed ML Diagnostics API (`/v1alpha/projects/…`) on top of the registry.

What its clients send and expect stands in `docs/adr/028-managed-api.md`. These modules turn its shapes into
the registry's values and back; the routes in `server.routes.managed_*` call them. No query of their own.
"""
