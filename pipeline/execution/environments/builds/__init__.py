"""Source distributions built inside the sandbox, behind an index proxy."""
