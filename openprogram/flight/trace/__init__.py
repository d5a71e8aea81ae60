"""Every step of a call, and what it changed: writing it down, reading it, stepping through it."""
