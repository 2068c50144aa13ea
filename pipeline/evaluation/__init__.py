"""From a snapshot to a score: prompts, scores, exports."""
