/* SPDX-License-Identifier: MIT */
/* gitcheckout: the one function that writes the user's working tree and index. Files first, then the index, as git does
 * it: a kill leaves changes that `git status` shows. Line endings as git's attributes have them; no filter program and
 * no hook runs; a file that has a filter is refused. Never overwrites or removes what differs from the first tree.
 * Called by lgit.c. */
#define _GNU_SOURCE
#include "git/gitcheckout.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct noted {
    git_repository *repo;
    struct ap_buf *paths;
    bool full, filtered;
};

/* Notes a path that is in the way. Ends the checkout at one that git would write through a filter program. */
static int note(git_checkout_notify_t why, const char *path, const git_diff_file *baseline, const git_diff_file *target,
    const git_diff_file *workdir, void *payload)
{
    (void)baseline;
    (void)target;
    (void)workdir;
    struct noted *noted = payload;
    if (why == GIT_CHECKOUT_NOTIFY_UPDATED) {
        const char *filter = NULL;
        int result = ap_gitlib.attr_get(&filter, noted->repo, GIT_ATTR_CHECK_FILE_THEN_INDEX, path, "filter");
        if (result != 0 || ap_gitlib.attr_value(filter) != GIT_ATTR_VALUE_STRING)
            return result;
        noted->filtered = true;
        noted->paths->used = 0;
    }
    noted->full = noted->full || ap_buf_add(noted->paths, path, strlen(path) + 1) != 0;
    return noted->filtered ? -1 : 0;
}

/* The lock is taken only when the files are written: looked at before, it still stops everything. */
static bool is_locked(git_repository *repo)
{
    char path[PATH_MAX];
    int size = snprintf(path, sizeof path, "%sindex.lock", ap_gitlib.repository_path(repo));
    return size < (int)sizeof path && access(path, F_OK) == 0;
}

int ap_gitcheckout(struct ap_buf *conflicts, git_repository *repo, const git_oid *from, const git_oid *to, bool dry_run,
    struct ap_err *err)
{
    git_tree *old = NULL, *new = NULL;
    struct noted noted = {.repo = repo, .paths = conflicts};
    int result = -1;
    if (ap_gitlib.repository_workdir(repo) == NULL)
        return ap_err_set(err, "EBARE", "the repository has no working tree");
    if (is_locked(repo))
        return ap_err_set(err, "ELOCKED", "%sindex.lock is there", ap_gitlib.repository_path(repo));
    if (ap_gitlib_tree(&old, repo, from, err) != 0 || ap_gitlib_tree(&new, repo, to, err) != 0)
        goto out;
    git_checkout_options options = {.version = GIT_CHECKOUT_OPTIONS_VERSION,
        .checkout_strategy = GIT_CHECKOUT_SAFE | GIT_CHECKOUT_DONT_OVERWRITE_IGNORED |
                             (dry_run ? GIT_CHECKOUT_DRY_RUN | GIT_CHECKOUT_DONT_WRITE_INDEX : 0),
        .notify_flags = GIT_CHECKOUT_NOTIFY_CONFLICT | GIT_CHECKOUT_NOTIFY_UPDATED,
        .notify_cb = note,
        .notify_payload = &noted,
        .baseline = old};
    result = ap_gitlib.checkout_tree(repo, (const git_object *)new, &options);
    if (noted.full)
        result = ap_err_memory(err);
    else if (noted.filtered)
        result = ap_err_set(err, "EFILTER", "git has a filter for %s", conflicts->bytes);
    else if (result < 0 || conflicts->used > 0)
        result = ap_gitlib_fail(err, conflicts->used > 0 ? GIT_ECONFLICT : result, "checkout");
out:
    ap_gitlib.tree_free(new);
    ap_gitlib.tree_free(old);
    return result < 0 ? -1 : 0;
}
