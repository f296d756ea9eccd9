"""The rules, in the order in which they are asked; a file that is not named here does not run."""
