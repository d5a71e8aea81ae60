"""What a list shows, line by line, read from disk only when a line is on the screen."""
