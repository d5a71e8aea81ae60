"""The widgets that draw lines; every character they write went through `text.clean`."""
