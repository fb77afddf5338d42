"""What the hub's own pages have in common: their frame, forms, paths and errors."""
