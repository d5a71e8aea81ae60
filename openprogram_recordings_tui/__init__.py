"""The terminal UI of OpenProgram Recordings; it rests on the pure readers, and never goes online."""
