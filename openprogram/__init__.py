"""OpenProgram: record what an agent asked and was told, and replay it offline."""

__version__ = "0.1.0"
