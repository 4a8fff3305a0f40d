/* SPDX-License-Identifier: MIT */
/* wtlist: the entries of a tree, in tree order and by path, with each file's stat when it last had its blob's content.
 * Built from a git tree; entries known to an earlier list keep their stamps. A leaf of worktree; touches no disk. */
#ifndef AP_WTLIST_H
#define AP_WTLIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "git/gitlib.h"

/* The part of lstat's result that shows whether a file may have changed. */
struct ap_wtlist_stamp {
    int64_t size, mtime_ns, ctime_ns;
    uint64_t ino;
    uint32_t mode;
};

enum ap_wtlist_state { AP_WTLIST_MISSING, AP_WTLIST_SAME, AP_WTLIST_DIFFERENT };

struct ap_wtlist_entry {
    size_t path; /* offset in paths; NUL-terminated */
    uint64_t hash;
    uint32_t length, mode; /* a git mode: GIT_FILEMODE_... */
    git_oid id;
    int64_t blob_size; /* -1: not read yet */
    struct ap_wtlist_stamp stamp;
    bool hidden;  /* in the tree, but must not be on disk */
    bool known;   /* a file with this stamp has this blob and this mode */
    bool racy;    /* known, but written so recently that the stamp proves nothing */
    bool noticed; /* meanwhile a folder above it was moved, or it was open for writing */
    uint8_t state;
};

struct ap_wtlist {
    struct ap_wtlist_entry *entries; /* a directory comes before its contents */
    size_t count, room;
    struct ap_buf paths;
    uint32_t *slots; /* by hash: index + 1, or 0 */
    size_t slot_count;
};

/* Exact paths, sorted by strcmp; a directory's path hides everything below it. */
struct ap_wtlist_hide {
    const char **paths;
    size_t count;
};

/* list must be {0}. Code EPATH for a tree that no directory can represent ("..", ".git", too deep). */
int ap_wtlist_build(struct ap_wtlist *list, const struct ap_wtlist *old, git_repository *repo, const git_oid *tree,
    const struct ap_wtlist_hide *hide, struct ap_err *err);
void ap_wtlist_dispose(struct ap_wtlist *list);

/* NULL if the tree has no such path. */
struct ap_wtlist_entry *ap_wtlist_find(const struct ap_wtlist *list, const char *path, size_t length);

/* Neither a folder, nor a symlink, nor a submodule. */
static inline bool ap_wtlist_is_file(const struct ap_wtlist_entry *entry)
{
    return (entry->mode & 0170000) == 0100000;
}

static inline const char *ap_wtlist_path(const struct ap_wtlist *list, const struct ap_wtlist_entry *entry)
{
    return list->paths.bytes + entry->path;
}

#endif
