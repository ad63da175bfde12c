"""What all charts share: how they look and how they are written to a file."""
