"""Where profiles lie: Google Cloud Storage and local directories, behind one protocol."""
