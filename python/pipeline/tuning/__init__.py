"""The search for tiles: candidates tried out, costs, and what is kept of it all."""
