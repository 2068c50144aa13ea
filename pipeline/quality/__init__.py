"""What a person should look at, what may be published, and the decisions of annotators."""
