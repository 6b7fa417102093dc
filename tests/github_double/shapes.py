"""Replies in GitHub's shapes: complete as its OpenAPI description demands, with the double's addresses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.github_double.state import Comment, Pull, Repository

WHEN = "2026-01-01T00:00:00Z"
_USER = """
followers following{/other_user} gists{/gist_id} starred{/owner}{/repo} subscriptions orgs repos
events{/privacy} received_events
"""
_REPOSITORY = """
archive/{archive_format}{/ref} assignees{/user} git/blobs{/sha} branches{/branch}
collaborators{/collaborator} comments{/number} commits{/sha} compare/{base}...{head} contents/{+path}
contributors deployments downloads events forks git/commits{/sha} git/refs{/sha} git/tags{/sha} hooks
issues/comments{/number} issues/events{/number} issues{/number} keys{/key_id} labels{/name} languages
merges milestones{/number} notifications{?since} pulls{/number} releases{/id} stargazers statuses/{sha}
subscribers subscription tags teams git/trees{/sha}
"""
_IRREGULAR = {
    "git/blobs": "blobs_url",
    "git/commits": "git_commits_url",
    "git/refs": "git_refs_url",
    "git/tags": "git_tags_url",
    "git/trees": "trees_url",
    "issues/comments": "issue_comment_url",
    "issues/events": "issue_events_url",
    "orgs": "organizations_url",
}


@dataclass(frozen=True)
class Shapes:
    """api: the API's address, web: the site's, both without a final slash."""

    api: str
    web: str

    def user(self, login: str, kind: str = "User") -> dict[str, Any]:
        url = f"{self.api}/users/{login}"
        return {
            "login": login,
            "id": _number(login),
            "node_id": f"U_{_number(login)}",
            "avatar_url": f"{self.web}/avatars/{login}",
            "gravatar_id": "",
            "url": url,
            "html_url": f"{self.web}/{login}",
            "type": kind,
            "site_admin": False,
            **{_key(suffix): f"{url}/{suffix}" for suffix in _USER.split()},
        }

    def repository(self, full_name: str, known: Repository | None = None) -> dict[str, Any]:
        owner, _, name = full_name.partition("/")
        url, html = f"{self.api}/repos/{full_name}", f"{self.web}/{full_name}"
        host = self.web.partition("://")[2]
        zero = "forks forks_count open_issues open_issues_count size stargazers_count watchers watchers_count"
        false = "fork private has_pages archived disabled"
        true = "has_downloads has_issues has_projects has_wiki"
        none = "description homepage language mirror_url license"
        return {
            "id": _number(full_name),
            "node_id": f"R_{_number(full_name)}",
            "name": name,
            "full_name": full_name,
            "owner": self.user(owner, "Organization"),
            "html_url": html,
            "url": url,
            "clone_url": f"{html}.git",
            "git_url": f"git://{host}/{full_name}.git",
            "ssh_url": f"git@{host}:{full_name}.git",
            "svn_url": html,
            "default_branch": known.default_branch if known else "main",
            "created_at": WHEN,
            "updated_at": WHEN,
            "pushed_at": known.pushed_at if known else WHEN,
            "visibility": "public",
            "topics": [],
            **{_key(suffix): f"{url}/{suffix}" for suffix in _REPOSITORY.split()},
            **dict.fromkeys(zero.split(), 0),
            **dict.fromkeys(false.split(), False),
            **dict.fromkeys(true.split(), True),
            **dict.fromkeys(none.split()),
        }

    def pull(self, home: Repository, pull: Pull, fork: Repository | None, *, whole: bool) -> dict[str, Any]:
        url = f"{self.api}/repos/{home.full_name}/pulls/{pull.number}"
        issue = f"{self.api}/repos/{home.full_name}/issues/{pull.number}"
        html = f"{self.web}/{home.full_name}/pull/{pull.number}"
        base_sha = home.sha(f"refs/heads/{pull.base_ref}")
        head_owner = pull.head_repository.partition("/")[0] if pull.head_repository else "ghost"
        head_repo = self.repository(pull.head_repository, fork) if pull.head_repository else None
        statuses = f"{self.api}/repos/{home.full_name}/statuses/{pull.head_sha}"
        links = {
            "self": url,
            "html": html,
            "issue": issue,
            "comments": f"{issue}/comments",
            "review_comments": f"{url}/comments",
            "review_comment": f"{self.api}/repos/{home.full_name}/pulls/comments{{/number}}",
            "commits": f"{url}/commits",
            "statuses": statuses,
        }
        value = {
            "url": url,
            "id": 9_000 + pull.number,
            "node_id": f"PR_{pull.number}",
            "html_url": html,
            "diff_url": f"{html}.diff",
            "patch_url": f"{html}.patch",
            "issue_url": issue,
            "commits_url": links["commits"],
            "review_comments_url": links["review_comments"],
            "review_comment_url": links["review_comment"],
            "comments_url": links["comments"],
            "statuses_url": statuses,
            "number": pull.number,
            "state": pull.state,
            "locked": pull.locked,
            "draft": pull.draft,
            "title": "Add a submission",
            "user": self.user(pull.author),
            "body": None,
            "labels": [],
            "milestone": None,
            "created_at": WHEN,
            "updated_at": WHEN,
            "closed_at": None if pull.state == "open" else WHEN,
            "merged_at": None,
            "merge_commit_sha": None,
            "assignee": None,
            "head": {
                "label": f"{head_owner}:{pull.head_ref}",
                "ref": pull.head_ref,
                "sha": pull.head_sha,
                "user": self.user(head_owner) if pull.head_repository else None,
                "repo": head_repo,
            },
            "base": {
                "label": f"{home.full_name.partition('/')[0]}:{pull.base_ref}",
                "ref": pull.base_ref,
                "sha": base_sha,
                "user": self.user(home.full_name.partition("/")[0]),
                "repo": self.repository(home.full_name, home),
            },
            "_links": {name: {"href": href} for name, href in links.items()},
            "author_association": "CONTRIBUTOR",
            "auto_merge": None,
        }
        if whole:
            changed = home.git("diff", "--name-only", "--no-renames", "-z", f"{base_sha}...{pull.head_sha}")
            value |= {
                "additions": 1,
                "deletions": 0,
                "changed_files": changed.count(b"\0"),
                "comments": 0,
                "commits": 1,
                "review_comments": 0,
                "mergeable": None,
                "mergeable_state": "unknown",
                "merged": False,
                "merged_by": None,
                "maintainer_can_modify": False,
            }
        return value

    def comment(self, home: Repository, comment: Comment) -> dict[str, Any]:
        return {
            "id": comment.id,
            "node_id": comment.node_id,
            "url": f"{self.api}/repos/{home.full_name}/issues/comments/{comment.id}",
            "html_url": f"{self.web}/{home.full_name}/pull/{comment.number}#issuecomment-{comment.id}",
            "issue_url": f"{self.api}/repos/{home.full_name}/issues/{comment.number}",
            "body": comment.body,
            "user": self.user(comment.login, comment.kind),
            "created_at": comment.at,
            "updated_at": comment.at,
            "author_association": "NONE",
        }

    def commit(self, home: Repository, sha: str) -> dict[str, Any]:
        url = f"{self.api}/repos/{home.full_name}/commits/{sha}"
        who = {"name": "Someone", "email": "someone@example.org", "date": WHEN}
        tree = home.sha(f"{sha}^{{tree}}")
        return {
            "url": url,
            "sha": sha,
            "node_id": f"C_{sha[:8]}",
            "html_url": f"{self.web}/{home.full_name}/commit/{sha}",
            "comments_url": f"{url}/comments",
            "commit": {
                "url": f"{self.api}/repos/{home.full_name}/git/commits/{sha}",
                "author": who,
                "committer": who,
                "message": "change",
                "comment_count": 0,
                "tree": {"sha": tree, "url": f"{self.api}/repos/{home.full_name}/git/trees/{tree}"},
            },
            "author": None,
            "committer": None,
            "parents": [],
        }


def _key(suffix: str) -> str:
    plain = suffix.partition("{")[0].rstrip("/")
    return _IRREGULAR.get(plain, f"{plain.rpartition('/')[2]}_url")


def _number(name: str) -> int:
    return sum(ord(letter) * (place + 1) for place, letter in enumerate(name)) + 1_000
