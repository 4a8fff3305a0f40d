/* SPDX-License-Identifier: MIT */
/* gitpack: packs loose objects, and joins packs. A pack is written in a folder of its own name for which git prunes,
 * then moved beside the others, then read back; only then what it holds goes. Reads no ref: which commits, the caller
 * says. Called by lgitpack.c. */
#define _GNU_SOURCE
#include "gitpack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEX = GIT_OID_HEXSZ, FOLDERS = 256 };

static const char scratch_name[] = "tmp_objdir-apsis"; /* git prune removes what is called tmp_objdir-* and is old */

int ap_gitpack_lock(int *out, git_repository *repo, struct ap_err *err)
{
    const char *common = ap_gitlib.repository_commondir(repo);
    int fd = open(common, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return ap_err_errno(err, errno, "%s", common);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        int errnum = errno;
        close(fd);
        return errnum == EWOULDBLOCK ? ap_err_set(err, "ELOCKED", "another apsis packs %s", common)
                                     : ap_err_errno(err, errnum, "%s", common);
    }
    *out = fd;
    return 0;
}

/* ---- a set of ids ---- */

enum { FREE, LOOSE, PACKED, SPARED };

struct idset {
    git_oid *items;
    unsigned char *taken; /* 0: free, else one of these */
    size_t used, room;
};

static size_t idset_slot(const struct idset *set, const git_oid *id)
{
    size_t slot;
    memcpy(&slot, id->id, sizeof slot); /* ids are as good as random */
    for (slot &= set->room - 1; set->taken[slot] != FREE; slot = (slot + 1) & (set->room - 1))
        if (memcmp(&set->items[slot], id, sizeof *id) == 0)
            break;
    return slot;
}

static int idset_grow(struct idset *set)
{
    struct idset old = *set;
    set->room = old.room > 0 ? old.room * 2 : 1024;
    set->items = calloc(set->room, sizeof *set->items);
    set->taken = calloc(set->room, 1);
    if (set->items == NULL || set->taken == NULL) {
        free(set->items);
        free(set->taken);
        *set = old;
        return -1;
    }
    for (size_t i = 0; i < old.room; i++)
        if (old.taken[i] != FREE) {
            size_t slot = idset_slot(set, &old.items[i]);
            set->items[slot] = old.items[i];
            set->taken[slot] = old.taken[i];
        }
    free(old.items);
    free(old.taken);
    return 0;
}

static int idset_add(struct idset *set, const git_oid *id, unsigned char state)
{
    if (4 * (set->used + 1) > 3 * set->room && idset_grow(set) != 0)
        return -1;
    size_t slot = idset_slot(set, id);
    set->used += set->taken[slot] == FREE;
    set->items[slot] = *id;
    set->taken[slot] = state;
    return 0;
}

static void idset_dispose(struct idset *set)
{
    free(set->items);
    free(set->taken);
}

/* ---- what is loose ---- */

struct packing {
    git_repository *repo;
    git_packbuilder *builder;
    struct idset ids;
    bool sparing;
    char objects[PATH_MAX - 300]; /* the folder, with room for what stands in it */
    struct ap_err *err;
};

static int out_of_memory(struct ap_err *err)
{
    return ap_err_set(err, "ENOMEM", "out of memory");
}

static int list_folder(struct packing *packing, unsigned folder)
{
    char path[PATH_MAX], hex[HEX + 1];
    snprintf(path, sizeof path, "%s/%02x", packing->objects, folder);
    DIR *dir = opendir(path);
    if (dir == NULL)
        return errno == ENOENT ? 0 : ap_err_errno(packing->err, errno, "%s", path);
    int result = 0;
    for (struct dirent *entry; result == 0 && (entry = readdir(dir)) != NULL;) {
        git_oid id;
        if (strspn(entry->d_name, "0123456789abcdef") != HEX - 2 || entry->d_name[HEX - 2] != '\0')
            continue;
        snprintf(hex, sizeof hex, "%02x%.38s", folder, entry->d_name);
        if (ap_gitlib.oid_fromstr(&id, hex) == 0 && idset_add(&packing->ids, &id, LOOSE) != 0)
            result = out_of_memory(packing->err);
    }
    closedir(dir);
    return result;
}

/* Puts an object into the pack, or spares it, if it is a file of its own and was not seen yet: 1; 0 where it is not. */
static int take(struct packing *packing, const git_oid *id, const char *name)
{
    size_t slot = packing->ids.room > 0 ? idset_slot(&packing->ids, id) : 0;
    if (packing->ids.room == 0 || packing->ids.taken[slot] != LOOSE)
        return 0;
    int result = packing->sparing ? 0 : ap_gitlib.packbuilder_insert(packing->builder, id, name);
    if (result < 0)
        return ap_gitlib_fail(packing->err, result, "packing an object");
    packing->ids.taken[slot] = packing->sparing ? SPARED : PACKED;
    return 1;
}

/* The contents of a tree that is packed now. What is in a pack already has its contents there, or they stay files. */
static int take_contents(struct packing *packing, const git_oid *id)
{
    git_tree *tree = NULL;
    int result = ap_gitlib.tree_lookup(&tree, packing->repo, id);
    if (result < 0)
        return ap_gitlib_fail(packing->err, result, "a candidate's tree");
    size_t count = ap_gitlib.tree_entrycount(tree);
    for (size_t i = 0; i < count && result >= 0; i++) {
        const git_tree_entry *entry = ap_gitlib.tree_entry_byindex(tree, i);
        git_filemode_t mode = ap_gitlib.tree_entry_filemode(entry);
        if (mode == GIT_FILEMODE_COMMIT)
            continue;
        result = take(packing, ap_gitlib.tree_entry_id(entry), ap_gitlib.tree_entry_name(entry));
        if (result == 1 && mode == GIT_FILEMODE_TREE)
            result = take_contents(packing, ap_gitlib.tree_entry_id(entry));
    }
    ap_gitlib.tree_free(tree);
    return result < 0 ? -1 : 0;
}

static int take_commit(struct packing *packing, const git_oid *id)
{
    git_commit *commit = NULL;
    int result = take(packing, id, NULL);
    if (result != 1)
        return result;
    result = ap_gitlib.commit_lookup(&commit, packing->repo, id);
    if (result < 0)
        return ap_gitlib_fail(packing->err, result, "a candidate");
    git_oid tree = *ap_gitlib.commit_tree_id(commit);
    ap_gitlib.commit_free(commit);
    result = take(packing, &tree, "");
    return result == 1 ? take_contents(packing, &tree) : result;
}

/* ---- writing ---- */

static int sync_path(const char *path, int flags, struct ap_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | flags);
    int result = fd >= 0 ? fsync(fd) : -1, errnum = errno;
    if (fd >= 0)
        close(fd);
    return result == 0 || (flags != 0 && (errnum == EINVAL || errnum == ENOTSUP))
               ? 0
               : ap_err_errno(err, errnum, "%s", path);
}

static void remove_scratch(const char *path)
{
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir != NULL)
        closedir(dir);
    rmdir(path);
}

/* Moves one file of the new pack, durably, to where git looks for packs. */
static int move(struct packing *packing, const char *scratch, const char *name, const char *end)
{
    char from[PATH_MAX], to[PATH_MAX], folder[PATH_MAX];
    snprintf(from, sizeof from, "%s/pack-%s.%s", scratch, name, end);
    snprintf(to, sizeof to, "%s/pack/pack-%s.%s", packing->objects, name, end);
    snprintf(folder, sizeof folder, "%s/pack", packing->objects);
    if (sync_path(from, 0, packing->err) != 0)
        return -1;
    if (rename(from, to) != 0)
        return ap_err_errno(packing->err, errno, "%s", to);
    return sync_path(folder, O_DIRECTORY, packing->err);
}

static int write_pack(struct ap_gitpack *done, struct packing *packing)
{
    char scratch[PATH_MAX], folder[PATH_MAX];
    snprintf(scratch, sizeof scratch, "%s/%s", packing->objects, scratch_name);
    snprintf(folder, sizeof folder, "%s/pack", packing->objects);
    remove_scratch(scratch);
    if ((mkdir(scratch, 0777) != 0) || (mkdir(folder, 0777) != 0 && errno != EEXIST))
        return ap_err_errno(packing->err, errno, "%s", scratch);
    int result = ap_gitlib.packbuilder_write(packing->builder, scratch, 0, NULL, NULL);
    if (result < 0)
        ap_gitlib_fail(packing->err, result, "writing a pack");
    const char *name = result == 0 ? ap_gitlib.packbuilder_name(packing->builder) : NULL;
    if (result == 0 && name == NULL)
        result = ap_err_set(packing->err, "EGIT", "the new pack has no name");
    if (result == 0) {
        snprintf(done->name, sizeof done->name, "%s", name);
        done->objects = ap_gitlib.packbuilder_object_count(packing->builder);
        result = move(packing, scratch, name, "pack"); /* the index last: it is what git looks for */
        result = result == 0 ? move(packing, scratch, name, "idx") : result;
    }
    remove_scratch(scratch);
    return result < 0 ? -1 : 0;
}

/* An object database of one pack alone. */
static int open_pack(git_odb **out, struct packing *packing, const char *name)
{
    char path[PATH_MAX];
    git_odb_backend *backend = NULL;
    snprintf(path, sizeof path, "%s/pack/pack-%s.idx", packing->objects, name);
    int result = ap_gitlib.odb_new(out);
    if (result == 0)
        result = ap_gitlib.odb_backend_one_pack(&backend, path);
    if (result == 0 && (result = ap_gitlib.odb_add_backend(*out, backend, 1)) < 0)
        backend->free(backend);
    return result < 0 ? ap_gitlib_fail(packing->err, result, "%s", path) : 0;
}

/* Whether the pack, read back, has all that was put into it. */
static int verify(struct packing *packing, const char *name)
{
    git_odb *odb = NULL;
    int result = open_pack(&odb, packing, name);
    for (size_t i = 0; result == 0 && i < packing->ids.room; i++)
        if (packing->ids.taken[i] == PACKED && ap_gitlib.odb_exists(odb, &packing->ids.items[i]) != 1)
            result = ap_err_set(packing->err, "EGIT", "pack %s lacks an object that was put into it", name);
    if (odb != NULL)
        ap_gitlib.odb_free(odb);
    return result;
}

static void remove_loose(struct ap_gitpack *done, struct packing *packing)
{
    for (size_t i = 0; i < packing->ids.room; i++) {
        char hex[HEX + 1], path[PATH_MAX];
        if (packing->ids.taken[i] != PACKED)
            continue;
        ap_gitlib.oid_tostr(hex, sizeof hex, &packing->ids.items[i]);
        snprintf(path, sizeof path, "%s/%.2s/%s", packing->objects, hex, hex + 2);
        done->removed += unlink(path) == 0;
    }
}

static int begin(struct ap_gitpack *done, struct packing *packing, git_repository *repo, struct ap_err *err)
{
    *done = (struct ap_gitpack){0};
    *packing = (struct packing){.repo = repo, .err = err};
    const char *common = ap_gitlib.repository_commondir(repo);
    if (snprintf(packing->objects, sizeof packing->objects, "%sobjects", common) >= (int)sizeof packing->objects)
        return ap_err_errno(err, ENAMETOOLONG, "%s", common);
    int result = ap_gitlib.packbuilder_new(&packing->builder, repo);
    return result < 0 ? ap_gitlib_fail(err, result, "packing") : 0;
}

static void end(struct packing *packing)
{
    ap_gitlib.packbuilder_free(packing->builder);
    idset_dispose(&packing->ids);
}

int ap_gitpack_commits(struct ap_gitpack *done, git_repository *repo, const git_oid *commits, size_t count,
    size_t spared, struct ap_err *err)
{
    struct packing packing;
    int lock = -1, result = begin(done, &packing, repo, err);
    if (result == 0)
        result = ap_gitpack_lock(&lock, repo, err);
    for (unsigned folder = 0; result == 0 && folder < FOLDERS; folder++)
        result = list_folder(&packing, folder);
    for (size_t i = 0; result == 0 && i < count; i++) {
        packing.sparing = i < spared;
        result = take_commit(&packing, &commits[i]);
    }
    if (result == 0 && ap_gitlib.packbuilder_object_count(packing.builder) > 0) {
        result = write_pack(done, &packing);
        result = result == 0 ? verify(&packing, done->name) : result;
        if (result == 0)
            remove_loose(done, &packing);
    }
    if (lock >= 0)
        close(lock);
    end(&packing);
    return result;
}

/* ---- joining packs ---- */

static int add_id(const git_oid *id, void *payload)
{
    struct packing *packing = payload;
    int result = ap_gitlib.packbuilder_insert(packing->builder, id, NULL);
    return result < 0 ? result : idset_add(&packing->ids, id, PACKED);
}

static bool may_go(const struct packing *packing, const char *name)
{
    char path[PATH_MAX], keep[PATH_MAX], several[PATH_MAX];
    snprintf(path, sizeof path, "%s/pack/pack-%s.idx", packing->objects, name);
    snprintf(keep, sizeof keep, "%s/pack/pack-%s.keep", packing->objects, name);
    snprintf(several, sizeof several, "%s/pack/multi-pack-index", packing->objects);
    return strlen(name) == HEX && access(path, F_OK) == 0 && access(keep, F_OK) != 0 && access(several, F_OK) != 0;
}

static int add_pack(struct packing *packing, const char *name)
{
    git_odb *odb = NULL;
    int result = open_pack(&odb, packing, name);
    if (result == 0 && (result = ap_gitlib.odb_foreach(odb, add_id, packing)) != 0)
        result = ap_gitlib_fail(packing->err, result, "pack %s", name);
    if (odb != NULL)
        ap_gitlib.odb_free(odb);
    return result;
}

static void remove_pack(struct ap_gitpack *done, const struct packing *packing, const char *name)
{
    static const char *const ends[] = {"idx", "rev", "bitmap", "pack"}; /* the index first: nobody looks for the rest */
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/pack/pack-%s.%s", packing->objects, name, ends[i]);
        done->removed += unlink(path) == 0 && i == 0;
    }
}

int ap_gitpack_merge(
    struct ap_gitpack *done, git_repository *repo, const char *const *names, size_t count, struct ap_err *err)
{
    struct packing packing;
    size_t found = 0;
    int lock = -1, result = begin(done, &packing, repo, err);
    if (result == 0)
        result = ap_gitpack_lock(&lock, repo, err);
    for (size_t i = 0; result == 0 && i < count; i++)
        found += may_go(&packing, names[i]);
    for (size_t i = 0; result == 0 && found > 1 && i < count; i++)
        if (may_go(&packing, names[i]))
            result = add_pack(&packing, names[i]);
    if (result == 0 && found > 1) {
        result = write_pack(done, &packing);
        result = result == 0 ? verify(&packing, done->name) : result;
        for (size_t i = 0; result == 0 && i < count; i++)
            if (may_go(&packing, names[i]) && strcmp(names[i], done->name) != 0)
                remove_pack(done, &packing, names[i]);
    }
    if (lock >= 0)
        close(lock);
    end(&packing);
    return result;
}
