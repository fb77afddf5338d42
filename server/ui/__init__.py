"""Templates, static files and the shell around the UI of XProf."""
