"""Whether a snapshot was made by the rules and the driftline that make its rows again."""

from __future__ import annotations

from pipeline.core.build import build_version
from pipeline.core.rules.fingerprint import plain
from pipeline.core.versions import all_versions
from pipeline.lake.ids import sha256_json
from pipeline.quality.all_rules import CurationRules
from pipeline.snapshots.format.manifest import Manifest


def otherwise_made(manifest: Manifest, rules: CurationRules) -> list[str]:
    """Return what a snapshot was made by that is another today: names of rules, and of versions of stages and caches.

    A row that comes out as another says nothing against the snapshot then. Another commit alone is no reason: whoever
    changes a result raises a version. A snapshot without versions has `driftline` in their place.
    """
    if manifest.rules:
        today = {name: sha256_json(plain(rule)) for name, rule in vars(rules).items()}
        other = sorted(name for name, digest in manifest.rules.items() if today.get(name) != digest)
    else:
        other = ["rules"] if sha256_json(plain(vars(rules))) != manifest.rules_sha256 else []
    if manifest.versions:
        return other + sorted({name for name, _ in manifest.versions.items() ^ all_versions().items()})
    return [*other, *(["driftline"] if manifest.driftline != build_version() else [])]
