"""One file per change, each naming the one before it. A released file is never edited."""
