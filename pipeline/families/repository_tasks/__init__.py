"""Real projects with their own tests: what these execute, tasks made of that, and running tests on other code."""
