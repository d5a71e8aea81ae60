"""The provider boundary: the one way a model call leaves."""
