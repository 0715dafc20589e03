"""The web server that everything with a web address is served by."""
