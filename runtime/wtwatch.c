/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "wtwatch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

enum { MOVES_MAX = 1000 }; /* more than these is everything */

struct folder {
    int watch;
    size_t first; /* of the entries below it */
};

static int folder_add(struct ap_wtwatch *watch, int root, const char *path, size_t first, struct ap_err *err)
{
    char full[4200];
    if (snprintf(full, sizeof full, "/proc/self/fd/%d/%s", root, path) >= (int)sizeof full)
        return 0; /* deeper than a path can say: nor can a program */
    struct folder folder = {inotify_add_watch(watch->fd, full, IN_MOVE_SELF | IN_ONLYDIR), first};
    if (folder.watch < 0)
        return errno == ENOENT ? 0 : ap_err_errno(err, errno, "watching %s", path);
    return ap_buf_add(&watch->folders, &folder, sizeof folder) != 0 ? ap_err_set(err, "ENOMEM", "out of memory") : 0;
}

/* 0 where there is none. */
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
    if (watch->fd < 0 && (watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) < 0)
        return ap_err_errno(err, errno, "watching folders");
    watch->folders.used = 0;
    int result = folder_add(watch, root, ".", 0, err);
    for (size_t i = 0; i < list->count; i++) {
        struct ap_wtlist_entry *entry = &list->entries[i];
        entry->moved = false;
        if (result == 0 && entry->mode == GIT_FILEMODE_TREE && !entry->hidden)
            result = folder_add(watch, root, ap_wtlist_path(list, entry), i, err);
    }
    while (events_read(watch, bytes, sizeof bytes) > 0)
        ; /* our own */
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
    const struct folder *folders = (const void *)watch->folders.bytes;
    if (event->mask & IN_Q_OVERFLOW)
        all_mark(list);
    for (size_t i = 0; (event->mask & IN_MOVE_SELF) && i < watch->folders.used / sizeof *folders; i++)
        if (folders[i].watch == event->wd) {
            if (i == 0)
                all_mark(list);
            else
                below_mark(list, folders[i].first);
        }
}

void ap_wtwatch_mark(struct ap_wtwatch *watch, struct ap_wtlist *list)
{
    _Alignas(struct inotify_event) char bytes[4096];
    int moves = 0;
    ssize_t count;
    while (watch->fd >= 0 && (count = events_read(watch, bytes, sizeof bytes)) > 0)
        for (ssize_t at = 0; at < count;) {
            const struct inotify_event *event = (const void *)(bytes + at);
            at += (ssize_t)(sizeof *event + event->len);
            if (++moves < MOVES_MAX)
                event_mark(watch, list, event);
            else if (moves == MOVES_MAX)
                all_mark(list);
        }
}

void ap_wtwatch_dispose(struct ap_wtwatch *watch)
{
    if (watch->fd >= 0)
        close(watch->fd);
    ap_buf_dispose(&watch->folders);
}
