"""One process that answers prompts for many: it starts the provider runtime once, and keeps it."""
