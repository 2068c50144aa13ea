"""The review page: HTTP routes behind one door, over the review database."""
