"""Recording tool calls: what was asked of the world, and what it answered."""
