"""Comparison of the rules and versions of a snapshot with those that rebuild its rows."""

from __future__ import annotations

from pipeline.core.build import build_version
from pipeline.core.rules.fingerprint import plain
from pipeline.core.versions import all_versions
from pipeline.lake.ids import sha256_json
from pipeline.quality.all_rules import CurationRules
from pipeline.snapshots.format.manifest import Manifest


def differing_basis(manifest: Manifest, rules: CurationRules) -> list[str]:
    """Return the names of rules, and of versions of stages and caches, that differ from those of a snapshot.

    Differing rows are then no problem of the snapshot. Another commit alone is no difference, since changed results
    raise a version. A snapshot without versions has `driftline` in their place.
    """
    if manifest.rules:
        today = {name: sha256_json(plain(rule)) for name, rule in vars(rules).items()}
        other = sorted(name for name, digest in manifest.rules.items() if today.get(name) != digest)
    else:
        other = ["rules"] if sha256_json(plain(vars(rules))) != manifest.rules_sha256 else []
    if manifest.versions:
        return other + sorted({name for name, _ in manifest.versions.items() ^ all_versions().items()})
    return [*other, *(["driftline"] if manifest.driftline != build_version() else [])]
