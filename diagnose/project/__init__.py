"""What is true now: the files of the project and its git history."""
