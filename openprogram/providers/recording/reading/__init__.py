"""The parts of the one strict parser, which `reader.py` puts together."""
