"""Keys for providers: where they are kept, and in which order they are looked up."""
