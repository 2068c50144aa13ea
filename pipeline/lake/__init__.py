"""Tables on disk: declared schemas, content ids, atomic partitions, and the runner that skips what is done."""
