"""What Pi wrote: where sessions are, reading them, the tree, the context, calls and usage."""
