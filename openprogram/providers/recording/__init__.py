"""Writing and strictly reading recordings of provider calls."""
