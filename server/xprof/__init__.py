"""What XProf's page asks for under a link, and the answers that it gets."""
