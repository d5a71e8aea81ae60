"""A tool server of two tools, which speaks the Model Context Protocol over its standard streams."""

from __future__ import annotations

from mcp.server import MCPServer

server = MCPServer("pantry")
STOCK = {"tea": 4, "sugar": 0}


@server.tool()
def count(item: str) -> str:
    """Say how many packets of an item are in the pantry."""
    return f"{item}: {STOCK.get(item, 0)}"


@server.tool()
def list_items() -> str:
    """List the items that the pantry can hold."""
    return "\n".join(sorted(STOCK))


if __name__ == "__main__":
    server.run("stdio")
