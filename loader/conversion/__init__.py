"""One conversion, from a plan to an answer that is kept."""
