"""Measurements of XProf Hub beside XProf; nothing here is installed."""
