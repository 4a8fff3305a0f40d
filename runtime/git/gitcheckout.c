/* SPDX-License-Identifier: MIT */
/* gitcheckout: reads the user's working tree and index, and has the one function that writes them. Files first, then
 * the index, as git does it: a kill leaves changes that `git status` shows. Line endings as git's attributes have them;
 * no filter program and no hook runs; a file that has a filter, or an encoding of its own, is refused. Never overwrites
 * or removes what differs from the first tree. Called by lgit.c. */
#define _GNU_SOURCE
#include "git/gitcheckout.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* The index as it is now. Names differ by case whatever core.ignorecase says, as for git's own checkout: libgit2 would
 * take one for the other, and lose it. Read again then, for it is hashed by how names are compared. */
static int open_index(git_index **out, git_repository *repo, struct ap_err *err)
{
    int result = ap_gitlib.repository_index(out, repo);
    if (result == 0) {
        int caps = ap_gitlib.index_caps(*out);
        bool folds = (caps & GIT_INDEX_CAPABILITY_IGNORE_CASE) != 0;
        if (folds)
            result = ap_gitlib.index_set_caps(*out, caps & ~GIT_INDEX_CAPABILITY_IGNORE_CASE);
        if (result == 0)
            result = ap_gitlib.index_read(*out, folds);
    }
    const git_error *last = result < 0 ? ap_gitlib.error_last() : NULL;
    if (last != NULL && last->message != NULL && strstr(last->message, "'sdir'") != NULL)
        return ap_err_set(err, "EFORMAT",
            "apsis cannot read a sparse index: git sparse-checkout reapply --no-sparse-index makes it one that it can");
    return result < 0 ? ap_gitlib_fail(err, result, "git's index") : 0;
}

/* Sets *yes if an attribute of a path has a value, other than git's own encoding. */
static int has_value(bool *yes, git_repository *repo, const char *path, const char *attribute)
{
    const char *value = NULL;
    int result = ap_gitlib.attr_get(&value, repo, GIT_ATTR_CHECK_FILE_THEN_INDEX, path, attribute);
    if (result == 0 && ap_gitlib.attr_value(value) == GIT_ATTR_VALUE_STRING)
        *yes = *yes || strcasecmp(value, "UTF-8") != 0;
    return result;
}

/* ---- what differs from HEAD ---- */

/* Whether a path differs only in being absent because a sparse checkout leaves it out. */
static bool is_left_out(const git_status_entry *entry, git_index *index)
{
    if (entry->status != GIT_STATUS_WT_DELETED)
        return false;
    const git_index_entry *found = ap_gitlib.index_get_bypath(index, entry->index_to_workdir->old_file.path, 0);
    return found != NULL && (found->flags_extended & GIT_INDEX_ENTRY_SKIP_WORKTREE) != 0;
}

static int add_entry(
    struct ap_buf *paths, bool *encoded, const git_status_entry *entry, git_repository *repo, struct ap_err *err)
{
    const git_diff_delta *delta = entry->index_to_workdir != NULL ? entry->index_to_workdir : entry->head_to_index;
    const char *path = delta->new_file.path != NULL ? delta->new_file.path : delta->old_file.path;
    int result = has_value(encoded, repo, path, "working-tree-encoding");
    if (result < 0)
        return ap_gitlib_fail(err, result, "%s", path);
    return ap_buf_add(paths, path, strlen(path) + 1) != 0 ? ap_err_memory(err) : 0;
}

int ap_gitcheckout_dirty(struct ap_buf *paths, size_t *count, bool *encoded, git_repository *repo, bool untracked,
    size_t limit, struct ap_err *err)
{
    git_status_options options = {.version = GIT_STATUS_OPTIONS_VERSION,
        .show = GIT_STATUS_SHOW_INDEX_AND_WORKDIR,
        .flags = GIT_STATUS_OPT_EXCLUDE_SUBMODULES};
    if (untracked)
        options.flags |= GIT_STATUS_OPT_INCLUDE_UNTRACKED | GIT_STATUS_OPT_RECURSE_UNTRACKED_DIRS;
    *count = 0;
    *encoded = false;
    if (ap_gitlib.repository_workdir(repo) == NULL)
        return 0;
    git_index *index = NULL;
    git_status_list *list = NULL;
    int result = open_index(&index, repo, err);
    if (result == 0 && (result = ap_gitlib.status_list_new(&list, repo, &options)) < 0)
        ap_gitlib_fail(err, result, "status");
    size_t total = result == 0 ? ap_gitlib.status_list_entrycount(list) : 0;
    for (size_t i = 0; i < total && result == 0; i++) {
        const git_status_entry *entry = ap_gitlib.status_byindex(list, i);
        if (!is_left_out(entry, index) && (*count)++ < limit)
            result = add_entry(paths, encoded, entry, repo, err);
    }
    ap_gitlib.status_list_free(list);
    ap_gitlib.index_free(index);
    return result < 0 ? -1 : 0;
}

/* ---- the change ---- */

struct noted {
    git_repository *repo;
    struct ap_buf *paths;
    bool full, filtered;
};

/* Notes a path that is in the way. Ends the checkout at one that git would write through a filter program, or in an
 * encoding that libgit2 does not know. */
static int note(git_checkout_notify_t why, const char *path, const git_diff_file *baseline, const git_diff_file *target,
    const git_diff_file *workdir, void *payload)
{
    (void)baseline;
    (void)target;
    (void)workdir;
    struct noted *noted = payload;
    if (why == GIT_CHECKOUT_NOTIFY_UPDATED) {
        int result = has_value(&noted->filtered, noted->repo, path, "filter");
        if (result == 0)
            result = has_value(&noted->filtered, noted->repo, path, "working-tree-encoding");
        if (result != 0 || !noted->filtered)
            return result;
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
    git_index *index = NULL;
    struct noted noted = {.repo = repo, .paths = conflicts};
    int result = -1;
    if (ap_gitlib.repository_workdir(repo) == NULL)
        return ap_err_set(err, "EBARE", "the repository has no working tree");
    if (is_locked(repo))
        return ap_err_set(err, "ELOCKED", "%sindex.lock is there", ap_gitlib.repository_path(repo));
    if (open_index(&index, repo, err) != 0 || ap_gitlib_tree(&old, repo, from, err) != 0 ||
        ap_gitlib_tree(&new, repo, to, err) != 0)
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
        result = ap_err_set(err, "EFILTER", "git has a filter or an encoding for %s", conflicts->bytes);
    else if (result < 0 || conflicts->used > 0)
        result = ap_gitlib_fail(err, conflicts->used > 0 ? GIT_ECONFLICT : result, "checkout");
out:
    ap_gitlib.index_free(index);
    ap_gitlib.tree_free(new);
    ap_gitlib.tree_free(old);
    return result < 0 ? -1 : 0;
}
