"""One module per wire protocol; each loads its vendor's SDK on the first call, never on import."""
