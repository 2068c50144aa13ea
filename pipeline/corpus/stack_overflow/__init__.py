"""Stack Overflow: blocks of code of posts that name a version of a library."""
