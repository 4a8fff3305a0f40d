/* SPDX-License-Identifier: MIT */
/* wtwatch: whether a folder of the tree was moved, also where it was put back: what lies in it could be another's for a while, and
 * shows nothing of it. By inotify. A leaf of worktree. */
#ifndef AP_WTWATCH_H
#define AP_WTWATCH_H

#include "worktree/wtlist.h"

/* Lives as long as its directory: to close it takes the kernel some 15 ms. A tree without folders needs none. */
struct ap_wtwatch {
    int fd; /* -1: not opened yet */
    struct ap_buf folders;
};

/* From now on; where it fails, those folders that could be are watched all the same. Codes EMFILE, ENOSPC where the user has no
 * watches left (fs.inotify.max_user_instances, max_user_watches). */
int ap_wtwatch_begin(struct ap_wtwatch *watch, int root, struct ap_wtlist *list, struct ap_err *err);

/* Marks every entry that lies in a folder that was moved since; all where the kernel lost count (16,384 moves and removals). */
void ap_wtwatch_mark(struct ap_wtwatch *watch, struct ap_wtlist *list);

/* Before the list becomes another one. */
void ap_wtwatch_forget(struct ap_wtwatch *watch);

void ap_wtwatch_dispose(struct ap_wtwatch *watch);

#endif
