"""From the lake to what researchers load: the quality gate, snapshots, their card and their verification."""
