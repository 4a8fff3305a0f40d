/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "worktree/wtwatch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "worktree/dirtree.h"

enum { SHORT = 4000 }; /* longest path that the kernel accepts whole, with /proc/self/fd before it */

struct watched {
    int watch;
    bool noticed;
    size_t entry;
};

static int by_watch(const void *a, const void *b)
{
    const struct watched *left = a, *right = b;
    return (left->watch > right->watch) - (left->watch < right->watch);
}

/* Opens the folder of a path; name: the rest of it. -1 and errno. */
static int folder_open(const char **name, int root, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = strndup(path, slash != NULL ? (size_t)(slash - path) : 0);
    int fd = folder != NULL ? ap_dirtree_open(root, folder) : -1, saved = errno;
    free(folder);
    *name = slash != NULL ? slash + 1 : path;
    errno = saved;
    return fd;
}

/* Skips a folder that does not exist (all of it is hidden). */
static int watched_add(
    struct ap_wtwatch *watch, int root, const char *path, size_t entry, uint32_t events, struct ap_err *err)
{
    char full[SHORT + 64];
    const char *name;
    struct watched watched = {-1, false, entry};
    int fd = -1;
    if (watch->fd < 0 && (watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) < 0)
        return ap_err_errno(err, errno, "watching folders");
    if (strlen(path) < SHORT)
        snprintf(full, sizeof full, "/proc/self/fd/%d/%s", root, path);
    else if ((fd = folder_open(&name, root, path)) >= 0)
        snprintf(full, sizeof full, "/proc/self/fd/%d/%s", fd, name);
    if (fd >= 0 || strlen(path) < SHORT)
        watched.watch = inotify_add_watch(watch->fd, full, events);
    int errnum = errno;
    if (fd >= 0)
        close(fd);
    if (watched.watch < 0)
        return errnum == ENOENT ? 0 : ap_err_errno(err, errnum, "watching %.200s", path);
    return ap_buf_add(&watch->watched, &watched, sizeof watched) != 0 ? ap_err_memory(err) : 0;
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

int ap_wtwatch_begin(struct ap_wtwatch *watch, int root, struct ap_wtlist *list, bool files, struct ap_err *err)
{
    char bytes[4096];
    int result = 0;
    watch->watched.used = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct ap_wtlist_entry *entry = &list->entries[i];
        uint32_t events = entry->mode == GIT_FILEMODE_TREE    ? IN_MOVE_SELF | IN_ONLYDIR
                          : files && ap_wtlist_is_file(entry) ? IN_CLOSE_WRITE | IN_DONT_FOLLOW
                                                              : 0;
        entry->noticed = false;
        if (events != 0 && !entry->hidden && watched_add(watch, root, ap_wtlist_path(list, entry), i, events, err) != 0)
            result = -1; /* continue with the others */
    }
    if (watch->watched.used > 0)
        qsort(watch->watched.bytes, watch->watched.used / sizeof(struct watched), sizeof(struct watched), by_watch);
    while (watch->fd >= 0 && events_read(watch, bytes, sizeof bytes) > 0)
        ; /* events of our own moves */
    return result;
}

static void all_mark(struct ap_wtlist *list)
{
    for (size_t i = 0; i < list->count; i++)
        list->entries[i].noticed = true;
}

static void below_mark(struct ap_wtlist *list, size_t folder)
{
    const char *path = ap_wtlist_path(list, &list->entries[folder]);
    size_t length = strlen(path);
    for (size_t i = folder + 1; i < list->count; i++) {
        const char *other = ap_wtlist_path(list, &list->entries[i]);
        if (strncmp(other, path, length) != 0 || other[length] != '/')
            return;
        list->entries[i].noticed = true;
    }
}

static void event_mark(const struct ap_wtwatch *watch, struct ap_wtlist *list, const struct inotify_event *event)
{
    struct watched wanted = {.watch = event->wd}, *found = NULL;
    if (watch->watched.used > 0 && (event->mask & (IN_MOVE_SELF | IN_CLOSE_WRITE)))
        found = bsearch(&wanted, watch->watched.bytes, watch->watched.used / sizeof wanted, sizeof wanted, by_watch);
    if (event->mask & IN_Q_OVERFLOW)
        all_mark(list);
    if (found == NULL || found->noticed)
        return;
    found->noticed = list->entries[found->entry].noticed = true;
    if (event->mask & IN_MOVE_SELF)
        below_mark(list, found->entry);
}

static int file_open(int root, const char *path)
{
    const char *name;
    struct stat st;
    int folder = folder_open(&name, root, path), fd = -1;
    if (folder >= 0) {
        fd = ap_dirtree_open_file(&st, folder, name);
        close(folder);
    }
    return fd;
}

/* A descriptor that lies in a message is closed some time after its process has ended. The kernel gives no lease on a
 * file that is open for writing. */
static void open_mark(int root, struct ap_wtlist *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct ap_wtlist_entry *entry = &list->entries[i];
        int fd = !entry->hidden && ap_wtlist_is_file(entry) ? file_open(root, ap_wtlist_path(list, entry)) : -1;
        if (fd >= 0 && fcntl(fd, F_SETLEASE, F_RDLCK) != 0 && errno == EAGAIN)
            entry->noticed = true;
        if (fd >= 0)
            close(fd);
    }
}

void ap_wtwatch_mark(struct ap_wtwatch *watch, int root, struct ap_wtlist *list, bool files)
{
    _Alignas(struct inotify_event) char bytes[4096];
    ssize_t count;
    if (files && watch->watched.used > 0)
        open_mark(root, list); /* before the events are read: then no close is missed between the two */
    while (watch->watched.used > 0 && (count = events_read(watch, bytes, sizeof bytes)) > 0)
        for (ssize_t at = 0; at < count;) {
            const struct inotify_event *event = (const void *)(bytes + at);
            at += (ssize_t)(sizeof *event + event->len);
            event_mark(watch, list, event);
        }
}

void ap_wtwatch_forget(struct ap_wtwatch *watch)
{
    watch->watched.used = 0;
}

void ap_wtwatch_dispose(struct ap_wtwatch *watch)
{
    if (watch->fd >= 0)
        close(watch->fd);
    ap_buf_dispose(&watch->watched);
}
