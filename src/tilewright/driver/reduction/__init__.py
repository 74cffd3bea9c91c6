"""The reducer: shrink a program while a test keeps failing."""
