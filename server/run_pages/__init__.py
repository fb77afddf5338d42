"""What the pages of runs show: from queries of addresses and records of the registry to plain values.

Templates hold no logic: all of it is here. No route, and no HTML.
"""
