"""The exact limit: the most separation that a selection with a flat background can have."""
