// Clang includes it; nothing of it is needed.
