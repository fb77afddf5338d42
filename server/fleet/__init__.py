"""The workers as a front end sees them: where they are, which one is asked, and what it says."""
