/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "worktree/wtwatch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "worktree/dirtree.h"

enum { SHORT = 4000 }; /* longest path that the kernel accepts whole, with /proc/self/fd before it */

struct folder {
    int watch;
    bool moved;
    size_t entry;
};

static int by_watch(const void *a, const void *b)
{
    const struct folder *left = a, *right = b;
    return (left->watch > right->watch) - (left->watch < right->watch);
}

/* Skips a folder that does not exist (all of it is hidden). */
static int folder_add(struct ap_wtwatch *watch, int root, const char *path, size_t entry, struct ap_err *err)
{
    char full[SHORT + 64];
    struct folder folder = {-1, false, entry};
    int fd = -1;
    if (watch->fd < 0 && (watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) < 0)
        return ap_err_errno(err, errno, "watching folders");
    if (strlen(path) < SHORT)
        snprintf(full, sizeof full, "/proc/self/fd/%d/%s", root, path);
    else if ((fd = ap_dirtree_open(root, path)) >= 0)
        snprintf(full, sizeof full, "/proc/self/fd/%d/.", fd);
    if (fd >= 0 || strlen(path) < SHORT)
        folder.watch = inotify_add_watch(watch->fd, full, IN_MOVE_SELF | IN_ONLYDIR);
    int errnum = errno;
    if (fd >= 0)
        close(fd);
    if (folder.watch < 0)
        return errnum == ENOENT ? 0 : ap_err_errno(err, errnum, "watching %.200s", path);
    return ap_buf_add(&watch->folders, &folder, sizeof folder) != 0 ? ap_err_memory(err) : 0;
}

/* 0 if there is none. */
static ssize_t events_read(const struct ap_wtwatch *watch, void *bytes, size_t room)
{
    ssize_t count;
    do {
        count = read(watch->fd, bytes, room);
    } while (count < 0 && errno == EINTR);
    return count < 0 ? 0 : count;
}

int ap_wtwatch_begin(struct ap_wtwatch *watch, int root, struct ap_wtlist *list, struct ap_err *err)
{
    char bytes[4096];
    int result = 0;
    watch->folders.used = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct ap_wtlist_entry *entry = &list->entries[i];
        entry->moved = false;
        if (entry->mode == GIT_FILEMODE_TREE && !entry->hidden &&
            folder_add(watch, root, ap_wtlist_path(list, entry), i, err) != 0)
            result = -1; /* continue with the others */
    }
    if (watch->folders.used > 0)
        qsort(watch->folders.bytes, watch->folders.used / sizeof(struct folder), sizeof(struct folder), by_watch);
    while (watch->fd >= 0 && events_read(watch, bytes, sizeof bytes) > 0)
        ; /* events of our own moves */
    return result;
}

static void all_mark(struct ap_wtlist *list)
{
    for (size_t i = 0; i < list->count; i++)
        list->entries[i].moved = true;
}

static void below_mark(struct ap_wtlist *list, size_t folder)
{
    const char *path = ap_wtlist_path(list, &list->entries[folder]);
    size_t length = strlen(path);
    for (size_t i = folder + 1; i < list->count; i++) {
        const char *other = ap_wtlist_path(list, &list->entries[i]);
        if (strncmp(other, path, length) != 0 || other[length] != '/')
            return;
        list->entries[i].moved = true;
    }
}

static void event_mark(const struct ap_wtwatch *watch, struct ap_wtlist *list, const struct inotify_event *event)
{
    struct folder wanted = {.watch = event->wd}, *found = NULL;
    if (watch->folders.used > 0 && (event->mask & IN_MOVE_SELF))
        found = bsearch(&wanted, watch->folders.bytes, watch->folders.used / sizeof wanted, sizeof wanted, by_watch);
    if (event->mask & IN_Q_OVERFLOW)
        all_mark(list);
    else if (found != NULL && !found->moved)
        below_mark(list, found->entry);
    if (found != NULL)
        found->moved = true;
}

void ap_wtwatch_mark(struct ap_wtwatch *watch, struct ap_wtlist *list)
{
    _Alignas(struct inotify_event) char bytes[4096];
    ssize_t count;
    while (watch->folders.used > 0 && (count = events_read(watch, bytes, sizeof bytes)) > 0)
        for (ssize_t at = 0; at < count;) {
            const struct inotify_event *event = (const void *)(bytes + at);
            at += (ssize_t)(sizeof *event + event->len);
            event_mark(watch, list, event);
        }
}

void ap_wtwatch_forget(struct ap_wtwatch *watch)
{
    watch->folders.used = 0;
}

void ap_wtwatch_dispose(struct ap_wtwatch *watch)
{
    if (watch->fd >= 0)
        close(watch->fd);
    ap_buf_dispose(&watch->folders);
}
