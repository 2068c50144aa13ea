"""A snapshot on the Hub of Hugging Face: a commit of the data set's repository, and a tag with the snapshot's name.

`main`, the default revision, is the Hub's `latest`: it moves by one commit, after all files are uploaded.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from huggingface_hub import CommitOperationAdd, CommitOperationDelete, GitRefs, HfApi, RepoFile
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalTokenNotFoundError

from pipeline.snapshots.format.names import order
from pipeline.snapshots.upload.outgoing import NotUploaded, Outgoing, Uploaded

_THE_HUBS_OWN = frozenset({".gitattributes"})

_SIGN_IN = (
    "Sign in with `hf auth login`, or set HF_TOKEN to a token that may write to this repository"
    " (https://huggingface.co/docs/hub/security-tokens)"
)


def upload_to_hub(
    snapshot: Outgoing, repository: str, *, private: bool = False, endpoint: str | None = None
) -> Uploaded:
    """Send a snapshot to a data set repository `OWNER/NAME`, which is created if necessary.

    With `private` an existing repository must be private already. The token is that of `hf auth login`, or HF_TOKEN;
    `endpoint`, else HF_ENDPOINT, is the address of another Hub. Unchanged files are not sent again. Files that the
    snapshot lacks are deleted from `main`; older tags keep them. A snapshot older than the newest tag is refused, since
    `main` would go back.

    Errors: NotUploaded.
    """
    api = HfApi(endpoint=endpoint)
    with _report_errors(repository):
        url = api.create_repo(repository, repo_type="dataset", private=private or None, exist_ok=True)
        if private:
            _refuse_public(api, repository)
        refs = api.list_repo_refs(repository, repo_type="dataset")
        tagged = {tag.name: tag.target_commit for tag in refs.tags}
        if snapshot.name in tagged:
            _same_or_error(api, repository, snapshot, snapshot.name)
            return _uploaded(snapshot, str(url), (), _newest([*tagged]))
        head = _head(refs)
        sent: tuple[str, ...] = ()
        if head is None or _manifest(api, repository, head) != _blob_id(snapshot.manifest.local):
            _refuse_older(repository, snapshot, [*tagged])
            head, sent = _commit(api, repository, snapshot, head)
        api.create_tag(repository, tag=snapshot.name, revision=head, repo_type="dataset")
    return _uploaded(snapshot, str(url), sent, snapshot.name)


def _refuse_public(api: HfApi, repository: str) -> None:
    """Errors: NotUploaded for an existing public repository, which only its owner may make private."""
    if not api.dataset_info(repository).private:
        raise NotUploaded(
            f"{repository} exists and is public, and nothing was sent: make it private on its settings page, or upload"
            " without --private",
            code="upload_repository_public",
        )


def _uploaded(snapshot: Outgoing, address: str, sent: tuple[str, ...], latest: str) -> Uploaded:
    existing = tuple(file.path for file in snapshot.files if file.path not in sent)
    return Uploaded(address=address, sent=sent, existing=existing, latest=latest)


def _newest(names: list[str]) -> str:
    return max(names, key=order)


def _head(refs: GitRefs) -> str | None:
    return next((branch.target_commit for branch in refs.branches if branch.name == "main"), None)


def _commit(api: HfApi, repository: str, snapshot: Outgoing, head: str | None) -> tuple[str, tuple[str, ...]]:
    """Make `main` the snapshot with one commit on top of `head`; return the commit, and the files that it changed."""
    there = _files(api, repository, head) if head else {}
    _refuse_foreign(api, repository, snapshot, there)
    ours = {file.path for file in snapshot.files}
    gone = sorted(set(there) - ours - _THE_HUBS_OWN)
    # the client compares files without a known hash when it commits them
    changed = tuple(
        file.path for file in snapshot.files if there.get(file.path) not in (file.sha256, _blob_id(file.local))
    )
    done = api.create_commit(
        repository,
        [
            *(CommitOperationAdd(path_in_repo=file.path, path_or_fileobj=file.local) for file in snapshot.files),
            *(CommitOperationDelete(path_in_repo=path) for path in gone),
        ],
        commit_message=snapshot.name,
        repo_type="dataset",
        parent_commit=head,
    )
    return done.oid, changed


def _files(api: HfApi, repository: str, revision: str) -> dict[str, str]:
    """Return the files at a revision with their sha256, or with their blob id where git stores them."""
    tree = api.list_repo_tree(repository, recursive=True, revision=revision, repo_type="dataset")
    return {each.path: each.lfs.sha256 if each.lfs else each.blob_id for each in tree if isinstance(each, RepoFile)}


def _refuse_foreign(api: HfApi, repository: str, snapshot: Outgoing, there: dict[str, str]) -> None:
    """Errors: NotUploaded for a repository that is no data set of this profile."""
    if not there.keys() - _THE_HUBS_OWN - {"README.md"}:
        return
    profile = _profile(api, repository) if "manifest.json" in there else None
    if profile != snapshot.profile:
        content = f"the profile {profile}" if profile else "something else than snapshots of Driftline"
        raise NotUploaded(
            f"{repository} holds {content}, and nothing was overwritten: name another repository for"
            f" {snapshot.profile}",
            code="upload_repository_foreign",
        )


def _profile(api: HfApi, repository: str) -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        path = api.hf_hub_download(repository, "manifest.json", repo_type="dataset", local_dir=folder)
        try:
            manifest = json.loads(Path(path).read_bytes())
        except ValueError:
            return None
    profile = manifest.get("profile") if isinstance(manifest, dict) else None
    return profile if isinstance(profile, str) else None


def _refuse_older(repository: str, snapshot: Outgoing, tagged: list[str]) -> None:
    """Errors: NotUploaded where a newer snapshot is on the Hub."""
    newer = [name for name in tagged if order(name) > order(snapshot.name)]
    if newer:
        raise NotUploaded(
            f"{repository} has {_newest(newer)}, which is newer than {snapshot.name}, and `main` never goes back:"
            " upload snapshots in their order, or the older one to a repository of its own",
            code="upload_older",
        )


def _same_or_error(api: HfApi, repository: str, snapshot: Outgoing, revision: str) -> None:
    """Errors: NotUploaded where a tag of the name has another manifest."""
    if _manifest(api, repository, revision) != _blob_id(snapshot.manifest.local):
        raise NotUploaded(
            f"{repository} has another snapshot under the tag {revision}, and nothing was overwritten: publish this one"
            " again, so that it gets a revision of its own",
            code="upload_tag_taken",
        )


def _manifest(api: HfApi, repository: str, revision: str) -> str | None:
    """Return the id of the manifest's blob at a revision."""
    entries = api.get_paths_info(repository, ["manifest.json"], revision=revision, repo_type="dataset")
    return next((each.blob_id for each in entries if isinstance(each, RepoFile)), None)


def _blob_id(path: Path) -> str:
    """Return the id that git gives to a file's content (https://git-scm.com/book/en/v2/Git-Internals-Git-Objects)."""
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


@contextmanager
def _report_errors(repository: str) -> Iterator[None]:
    """Turn errors of the Hub into NotUploaded with advice."""
    where = f"hf://datasets/{repository}"
    try:
        yield
    except NotUploaded:
        raise
    except LocalTokenNotFoundError:
        raise NotUploaded(f"{where}: no token. {_SIGN_IN}", code="upload_no_token") from None
    except HFValidationError as error:
        raise NotUploaded(f"{where}: {error}", code="upload_repository_invalid") from None
    except HfHubHTTPError as error:
        raise NotUploaded(f"{where}: {_advice(error)}", code="upload_refused") from error
    except Exception as error:  # the client's of HTTP and of its transfers
        raise NotUploaded(
            f"{where}: {type(error).__name__}: {error}. `main` and its tags are unchanged or complete: run the same"
            " command again to resume",
            code="upload_broken_off",
        ) from error


def _advice(error: HfHubHTTPError) -> str:
    status = error.response.status_code
    message = error.server_message or str(error).splitlines()[0]
    if status in (401, 403):
        return f"the Hub answers {status}, {message}. {_SIGN_IN}"
    if status in (409, 412):
        return f"somebody else changed `main` meanwhile ({message}): run the same command again"
    return f"the Hub answers {status}, {message}. Sent files are stored: run the same command again to resume"
