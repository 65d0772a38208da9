"""One module for each command, or for two that share what they do."""
