"""The one place where stages meet the index, other sources, the cache, interpreters, the sandbox and models."""
