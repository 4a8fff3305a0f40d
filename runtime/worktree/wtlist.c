/* SPDX-License-Identifier: MIT */
/* wtlist: builds the list of a tree's entries. Copies unchanged subtrees from the earlier list without reading them, so
 * a new list costs what differs plus a copy. Called by worktree.c. */
#include "worktree/wtlist.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH = 1000 };

static uint64_t hash_of(const char *path, size_t length)
{
    uint64_t hash = 14695981039346656037U;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)path[i]) * 1099511628211U;
    return hash ^ hash >> 32;
}

static void into_slot(struct ap_wtlist *list, size_t index)
{
    size_t mask = list->slot_count - 1, slot = list->entries[index].hash & mask;
    while (list->slots[slot] != 0)
        slot = (slot + 1) & mask;
    list->slots[slot] = (uint32_t)index + 1;
}

static int grow(struct ap_wtlist *list)
{
    size_t room = list->room > 0 ? list->room * 2 : 256;
    if (room > UINT32_MAX / 4)
        return -1;
    struct ap_wtlist_entry *entries = realloc(list->entries, room * sizeof *entries);
    if (entries == NULL)
        return -1;
    list->entries = entries;
    list->room = room;
    uint32_t *slots = calloc(room * 2, sizeof *slots);
    if (slots == NULL)
        return -1;
    free(list->slots);
    list->slots = slots;
    list->slot_count = room * 2;
    for (size_t i = 0; i < list->count; i++)
        into_slot(list, i);
    return 0;
}

struct ap_wtlist_entry *ap_wtlist_find(const struct ap_wtlist *list, const char *path, size_t length)
{
    if (list->slot_count == 0)
        return NULL;
    uint64_t hash = hash_of(path, length);
    size_t mask = list->slot_count - 1;
    for (size_t slot = hash & mask; list->slots[slot] != 0; slot = (slot + 1) & mask) {
        struct ap_wtlist_entry *entry = &list->entries[list->slots[slot] - 1];
        if (entry->hash == hash && entry->length == length && memcmp(ap_wtlist_path(list, entry), path, length) == 0)
            return entry;
    }
    return NULL;
}

void ap_wtlist_dispose(struct ap_wtlist *list)
{
    free(list->entries);
    free(list->slots);
    ap_buf_dispose(&list->paths);
    *list = (struct ap_wtlist){0};
}

struct building {
    struct ap_wtlist *list;
    const struct ap_wtlist *old;
    git_repository *repo;
    const struct ap_wtlist_hide *hide;
    struct ap_buf path;
    struct ap_err *err;
};

static int by_text(const void *key, const void *item)
{
    return strcmp(key, *(const char *const *)item);
}

static bool is_hidden(const struct ap_wtlist_hide *hide, const char *path)
{
    return hide->count > 0 && bsearch(path, hide->paths, hide->count, sizeof hide->paths[0], by_text) != NULL;
}

/* Appends a copy of `like` under this path, found later by `hash`. */
static int append(struct building *b, const struct ap_wtlist_entry *like, const char *path, bool hidden)
{
    struct ap_wtlist *list = b->list;
    if (list->count == list->room && grow(list) != 0)
        return ap_err_memory(b->err);
    struct ap_wtlist_entry *entry = &list->entries[list->count];
    *entry = *like;
    entry->path = list->paths.used;
    entry->hidden = hidden;
    entry->state = AP_WTLIST_MISSING;
    if (ap_buf_add(&list->paths, path, entry->length + 1) != 0)
        return ap_err_memory(b->err);
    into_slot(list, list->count++);
    return 0;
}

/* Copies everything below the directory at index `from` of the old list, whose tree has not changed. */
static int copy_below(struct building *b, size_t from, bool hidden)
{
    const struct ap_wtlist *old = b->old;
    const struct ap_wtlist_entry *directory = &old->entries[from];
    const char *prefix = ap_wtlist_path(old, directory);
    size_t hidden_below = 0; /* length of the path that was hidden last, and what is below it with it */
    const char *hider = NULL;
    for (size_t i = from + 1; i < old->count; i++) {
        const struct ap_wtlist_entry *entry = &old->entries[i];
        const char *path = ap_wtlist_path(old, entry);
        if (strncmp(path, prefix, directory->length) != 0 || path[directory->length] != '/')
            break;
        bool inside = hider != NULL && strncmp(path, hider, hidden_below) == 0 && path[hidden_below] == '/';
        bool here = hidden || inside || is_hidden(b->hide, path);
        if (here && !inside) {
            hider = path;
            hidden_below = entry->length;
        }
        if (append(b, entry, path, here) != 0)
            return -1;
    }
    return 0;
}

static int add_tree(struct building *b, const git_oid *id, bool hidden, int depth);

static int add_entry(struct building *b, const git_tree_entry *found, bool hidden, int depth)
{
    struct ap_wtlist_entry fresh = {.mode = ap_gitlib.tree_entry_filemode(found), .blob_size = -1};
    const char *path = b->path.bytes;
    fresh.length = (uint32_t)(b->path.used - 1);
    fresh.hash = hash_of(path, fresh.length);
    fresh.id = *ap_gitlib.tree_entry_id(found);
    hidden = hidden || is_hidden(b->hide, path);
    const struct ap_wtlist_entry *old = b->old != NULL ? ap_wtlist_find(b->old, path, fresh.length) : NULL;
    bool same = old != NULL && old->mode == fresh.mode && memcmp(&old->id, &fresh.id, sizeof fresh.id) == 0;
    if (append(b, same ? old : &fresh, path, hidden) != 0)
        return -1;
    if (fresh.mode != GIT_FILEMODE_TREE)
        return 0;
    if (same)
        return copy_below(b, (size_t)(old - b->old->entries), hidden);
    b->path.bytes[b->path.used - 1] = '/';
    return add_tree(b, &fresh.id, hidden, depth + 1);
}

/* b->path is this tree's path and a slash, or empty for the root. */
static int add_tree(struct building *b, const git_oid *id, bool hidden, int depth)
{
    git_tree *tree = NULL;
    if (depth > DEPTH)
        return ap_err_set(b->err, "EPATH", "the tree is deeper than %d directories", DEPTH);
    int result = ap_gitlib.tree_lookup(&tree, b->repo, id);
    if (result < 0)
        return ap_gitlib_fail(b->err, result, "tree");
    size_t count = ap_gitlib.tree_entrycount(tree), base = b->path.used;
    for (size_t i = 0; i < count && result == 0; i++) {
        const git_tree_entry *found = ap_gitlib.tree_entry_byindex(tree, i);
        const char *name = ap_gitlib.tree_entry_name(found);
        b->path.used = base;
        if (strchr(name, '/') != NULL || ap_gitlib_check_path(name, strlen(name), b->err) != 0)
            result =
                ap_err_set(b->err, "EPATH", "the tree has an entry named \"%s\", which cannot be checked out", name);
        else if (ap_buf_add(&b->path, name, strlen(name) + 1) != 0)
            result = ap_err_memory(b->err);
        else
            result = add_entry(b, found, hidden, depth);
    }
    ap_gitlib.tree_free(tree);
    return result;
}

int ap_wtlist_build(struct ap_wtlist *list, const struct ap_wtlist *old, git_repository *repo, const git_oid *tree,
    const struct ap_wtlist_hide *hide, struct ap_err *err)
{
    struct building building = {.list = list, .old = old, .repo = repo, .hide = hide, .err = err};
    int result = add_tree(&building, tree, false, 0);
    ap_buf_dispose(&building.path);
    if (result != 0)
        ap_wtlist_dispose(list);
    return result;
}
