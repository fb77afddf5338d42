"""Which request a log line, an answer and a span belong to; see docs/adr/044-seeing.md."""
