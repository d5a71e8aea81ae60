"""An agent: a model that may use tools until it has an answer."""
