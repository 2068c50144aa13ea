"""From the lake to what researchers load: snapshots, release checks, comparison, card, verification and upload."""
