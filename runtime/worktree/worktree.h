/* SPDX-License-Identifier: MIT */
/* worktree: a directory of ours, brought to a git tree by difference and read back into one. Raw bytes both ways.
 * Remembers what it checked out and the stat of each file, so a cycle costs an lstat per file. Called by
 * lworktree.c. */
#ifndef AP_WORKTREE_H
#define AP_WORKTREE_H

#include <stdbool.h>

#include "base/buf.h"
#include "git/gitlib.h"

struct ap_worktree;

/* Makes dir if it is missing. Keeps its own reference to the objects: repo may be freed earlier. */
int ap_worktree_open(struct ap_worktree **out, git_repository *repo, const char *dir, struct ap_err *err);
void ap_worktree_close(struct ap_worktree *worktree);

/* Uses the objects of repo from now on. */
int ap_worktree_renew(struct ap_worktree *worktree, git_repository *repo, struct ap_err *err);

struct ap_worktree_done {
    size_t written, removed;
};

/* Makes dir exactly tree, except for the paths to hide (sorted by strcmp; a directory's path hides everything below
 * it). */
int ap_worktree_checkout(struct ap_worktree_done *done, struct ap_worktree *worktree, const git_oid *tree,
    const char **hide, size_t hide_count, struct ap_err *err);

/* The same without touching the disk: what differs there already counts as changed. */
int ap_worktree_assume(
    struct ap_worktree *worktree, const git_oid *tree, const char **hide, size_t hide_count, struct ap_err *err);

/* From now on notices when folders of the tree are moved; where file times do not show every write, also when files
 * of it are opened for writing. */
int ap_worktree_watch(struct ap_worktree *worktree, struct ap_err *err);

/* The differences between the disk and what was checked out, sorted by path: path, kind (added modified deleted type
 * mode), mode (octal text, or "other"; "" when deleted), size, a symlink's target, mode in the tree ("" when added),
 * "1" when the path is a hidden one: 7 NUL-terminated fields. With touched, also those of kind touched: what was
 * written (or replaced, linked, changed in mode) since and is the same again, and what ap_worktree_watch noticed; and
 * empty folders that the tree does not have, as added. Code EPATH deeper than 4096 directories, ESTATE before a
 * checkout has succeeded. */
int ap_worktree_changes(struct ap_buf *out, struct ap_worktree *worktree, bool touched, struct ap_err *err);

struct ap_worktree_pick {
    const char *path;
    bool deleted;
};

/* The tree that was checked out, with these paths as they are on disk now; hidden paths stay as in the tree. */
int ap_worktree_write_tree(
    git_oid *out, struct ap_worktree *worktree, const struct ap_worktree_pick *picks, size_t count, struct ap_err *err);

/* Same, with all changes. Code EPATH when one of them is neither a file nor a symlink. */
int ap_worktree_write_all(git_oid *out, struct ap_worktree *worktree, struct ap_err *err);

/* The tree last checked out; false before a checkout has succeeded. */
bool ap_worktree_tree(git_oid *out, struct ap_worktree *worktree);

#endif
