/* SPDX-License-Identifier: MIT */
/* wtscan: one pass over a working directory, compared with the list of its expected content. Sets the state of every
 * entry of the list, and records findings. A leaf of worktree. */
#ifndef AP_WTSCAN_H
#define AP_WTSCAN_H

#include <sys/stat.h>

#include "worktree/wtlist.h"

enum {
    AP_WTSCAN_FIELDS = 7,
    AP_WTSCAN_RACY_NS = 20 * 1000 * 1000, /* file times advance in steps of about 4 ms: closer ones prove nothing */
};

/* Strict (for checkout): permissions, owner and link count matter too, and what is not in the tree is noted without
 * looking inside; otherwise the findings are full records. */
struct ap_wtscan {
    int root;
    struct ap_wtlist *list;
    git_odb *odb;
    bool strict, touched; /* touched: a file that was written since, but has the same bytes again, is a finding too, and
                             so is an empty folder that the tree does not have */
    bool unproven;        /* stamps prove nothing: reads every file */
    struct ap_err *err;   /* the caller sets the fields up to here; the rest is {0} */
    struct ap_buf found;  /* AP_WTSCAN_FIELDS NUL-terminated fields each (see ap_worktree_changes); strict: the path */
    struct ap_buf starts; /* size_t: where each finding begins */
    int64_t now;
    int fd;              /* the directory being read; then kept open, as the next is often inside it */
    void *dir;           /* its stream */
    struct ap_buf held;  /* its path */
    struct ap_buf path;  /* of the current file, NUL-terminated */
    struct ap_buf queue; /* directories to be read: path, NUL, and a size_t with its length */
    struct ap_buf scratch;
};

int ap_wtscan_run(struct ap_wtscan *scan);
void ap_wtscan_dispose(struct ap_wtscan *scan);

/* Adds a finding; st NULL: it is missing. */
int ap_wtscan_note(
    struct ap_wtscan *scan, const char *path, const char *kind, const struct stat *st, unsigned old_mode, bool hidden);

/* Records that the file with this stat has the entry's blob, as known at `now`. */
void ap_wtscan_remember(struct ap_wtlist_entry *entry, const struct stat *st, int64_t now);
int64_t ap_wtscan_now(void);

/* The last component; a file's or symlink's git mode; whether it is one of these. */
const char *ap_wtscan_name(const char *path);
unsigned ap_wtscan_mode(const struct stat *st);
bool ap_wtscan_is_ordinary(const struct stat *st);

#endif
