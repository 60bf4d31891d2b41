"""Problems unlike each other, on which what is recommended is judged."""
