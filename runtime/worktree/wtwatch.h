/* SPDX-License-Identifier: MIT */
/* wtwatch: notices by inotify when a folder of the tree is moved, even if it is put back: others could have replaced
 * its contents for a while without a trace. Where file times do not show every write, it notices files that are closed
 * after having been open for writing, too. A leaf of worktree. */
#ifndef AP_WTWATCH_H
#define AP_WTWATCH_H

#include "worktree/wtlist.h"

/* Lives as long as its directory, because closing it takes the kernel about 15 ms. A tree without folders needs
 * none. */
struct ap_wtwatch {
    int fd; /* -1: not opened yet */
    struct ap_buf watched;
};

/* Watches from now on, files too if asked; on failure, still watches what it can. Codes EMFILE, ENOSPC if the user has
 * no watches left (fs.inotify.max_user_instances, max_user_watches). */
int ap_wtwatch_begin(struct ap_wtwatch *watch, int root, struct ap_wtlist *list, bool files, struct ap_err *err);

/* Marks every entry in a folder that was moved since, and, of files, each that is open for writing or was; all entries
 * if the kernel lost count (16,384 events). */
void ap_wtwatch_mark(struct ap_wtwatch *watch, int root, struct ap_wtlist *list, bool files);

/* Call before the list is replaced. */
void ap_wtwatch_forget(struct ap_wtwatch *watch);

void ap_wtwatch_dispose(struct ap_wtwatch *watch);

#endif
