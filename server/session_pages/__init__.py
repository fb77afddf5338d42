"""What the page about a session shows, gathered for its templates. No route; decides no right."""
