"""Inspections turned into lines of styled spans; pure, and a stranger to Textual."""
