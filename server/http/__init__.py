"""How this hub speaks HTTP, whatever it is asked for: knows no run, session or link."""
