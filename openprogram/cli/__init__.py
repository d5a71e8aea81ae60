"""The command line; `openprogram.cli.app.run` is its one entrance."""
