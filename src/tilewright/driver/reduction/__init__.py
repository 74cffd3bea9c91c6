"""The reducer: shrink a program while a test calls it interesting."""
