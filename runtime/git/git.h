/* SPDX-License-Identifier: MIT */
/* git: the user's repository: its description, its revisions, and commits written into it. Called by
 * lgit.c. */
#ifndef AP_GIT_H
#define AP_GIT_H

#include <stdbool.h>

#include "base/buf.h"
#include "git/gitlib.h"

struct ap_git;

/* Discovers upward from path. Codes ENOREPO, EOWNER (with the remedy), ENOLIB. */
int ap_git_open(struct ap_git **out, const char *path, struct ap_err *err);
void ap_git_close(struct ap_git *git);

/* The repository, which lives as long as git does, and its objects only (see ap_gitlib_wrap), until renewed. */
git_repository *ap_git_repository(struct ap_git *git);
git_repository *ap_git_objects(struct ap_git *git);

/* Frees what libgit2 has read of packed-refs and packs, which would otherwise stay in memory; reopens them on demand.
 * Worktrees made before keep their own until they are renewed too. */
int ap_git_renew(struct ap_git *git, struct ap_err *err);

/* How many times it was renewed. */
unsigned ap_git_generation(const struct ap_git *git);

struct ap_git_info {
    char gitdir[4096], workdir[4096], branch[1024]; /* "" if there is none */
    bool bare, detached, shallow, partial, born;
    git_oid head; /* if there is a commit */
};

int ap_git_info(struct ap_git_info *info, struct ap_git *git, struct ap_err *err);

/* The object of a revspec, peeled to type; GIT_OBJECT_ANY peels only tags. Code ENOENT. */
int ap_git_find(git_oid *out, struct ap_git *git, const char *rev, git_object_t type, struct ap_err *err);

/* By git's rules (.gitignore, info/exclude) as they are in the working tree. Code EBARE. */
int ap_git_is_ignored(bool *ignored, struct ap_git *git, const char *path, struct ap_err *err);

struct ap_git_commit {
    git_oid tree;
    const git_oid *parents;
    size_t parent_count;
    const char *message, *name, *email; /* the author's name and email; NULL: the user's */
    long long time, author_time;        /* seconds, shown as UTC */
};

/* Writes the commit, fsynced, on no branch. Runs no hooks. */
int ap_git_commit(git_oid *out, struct ap_git *git, const struct ap_git_commit *spec, struct ap_err *err);

#endif
