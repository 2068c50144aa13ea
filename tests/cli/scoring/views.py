"""Options of views that cannot be used, with the codes of their errors; several commands have them."""

BAD_VIEWS = [
    (("--view", "post_cutoff"), "cutoff_missing"),
    (("--cutoff", "2020-01-01"), "cutoff_without_view"),
    (("--view", "all", "--cutoff", "2020-01-01"), "cutoff_without_view"),
    (("--view", "post_cutoff", "--cutoff", "yesterday"), "cutoff_invalid"),
    (("--view", "post_cutoff", "--cutoff", "9999-12-31"), "cutoff_after_rows"),
]
