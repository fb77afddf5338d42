"""What the pages show on which links are made, listed, changed and revoked.

Nothing here decides what may be shared: `auth.sharing_rules` does. The routes are `server.routes.share_pages`
and `server.routes.links_pages`.
"""
