"""What an environment is made of: interpreter, releases as of a day, and the lock with hashes."""
