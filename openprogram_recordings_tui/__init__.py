"""The terminal UI of OpenProgram Recordings; it reads files and never goes online."""
