"""What the files of a project say about the versions of the libraries that it uses."""
