/* SPDX-License-Identifier: MIT */
/* gitlib: loads libgit2 with dlopen at first use, sets its process-wide options, translates its errors, and edits trees
 * by path. Never unloads it: its objects live until the process ends. Used by git, gitobj and worktree; not
 * thread-safe, like the rest of apsis. */
#define _GNU_SOURCE
#include "git/gitlib.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct ap_gitlib ap_gitlib;

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define FUNCTION(name) {"git_" #name, offsetof(struct ap_gitlib, name)},
    AP_GITLIB_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

static int load_functions(void *library, struct ap_err *err)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *address = dlsym(library, functions[i].name);
        if (address == NULL)
            return ap_err_set(
                err, "ENOLIB", "libgit2 has no %s: version " LIBGIT2_VERSION " is needed", functions[i].name);
        memcpy((char *)&ap_gitlib + functions[i].offset, &address, sizeof address);
    }
    return 0;
}

static int set_options(struct ap_err *err)
{
    static const int levels[] = {
        GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL};
    /* These change where objects come from or which settings exist, not what an object is; info reports `partial`. */
    static const char *extensions[] = {"partialclone", "worktreeconfig"};
    int result = ap_gitlib.libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1);
    for (size_t i = 0; i < sizeof levels / sizeof levels[0] && result == 0; i++)
        result = ap_gitlib.libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "");
    if (result == 0)
        result = ap_gitlib.libgit2_opts(GIT_OPT_SET_EXTENSIONS, extensions, sizeof extensions / sizeof extensions[0]);
    /* Counts an object's stored bytes; in memory it takes about eight times as much. */
    if (result == 0)
        result = ap_gitlib.libgit2_opts(GIT_OPT_SET_CACHE_MAX_SIZE, (ssize_t)1 << 18);
    return result < 0 ? ap_gitlib_fail(err, result, "libgit2's options") : 0;
}

int ap_gitlib_load(struct ap_err *err)
{
    static bool loaded;
    if (loaded)
        return 0;
    void *library = dlopen("libgit2.so." LIBGIT2_SOVERSION, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        library = dlopen("libgit2.so", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return ap_err_set(err, "ENOLIB",
            "libgit2 " LIBGIT2_SOVERSION " is not installed (apt install libgit2-" LIBGIT2_SOVERSION "): %s",
            dlerror());
    if (load_functions(library, err) != 0) {
        dlclose(library);
        return -1;
    }
    int result = ap_gitlib.libgit2_init();
    if (result < 0)
        return ap_gitlib_fail(err, result, "libgit2");
    if (set_options(err) != 0)
        return -1;
    loaded = true;
    return 0;
}

static const char *code_of(int result, int class)
{
    switch (result) {
    case GIT_ENOTFOUND:
        return "ENOENT";
    case GIT_EEXISTS:
        return "EEXIST";
    case GIT_EAMBIGUOUS:
        return "EAMBIGUOUS";
    case GIT_EBAREREPO:
        return "EBARE";
    case GIT_EUNBORNBRANCH:
        return "EUNBORN";
    case GIT_ECONFLICT:
    case GIT_EMERGECONFLICT:
        return "ECONFLICT";
    case GIT_EINVALIDSPEC:
    case GIT_EPEEL:
    case GIT_EINVALID:
        return "EINVAL";
    case GIT_ELOCKED:
        return "ELOCKED";
    case GIT_EMODIFIED:
        return "EMOVED";
    case GIT_EOWNER:
        return "EOWNER";
    default:
        return class == GIT_ERROR_NOMEMORY ? "ENOMEM" : "EGIT";
    }
}

int ap_gitlib_fail(struct ap_err *err, int result, const char *format, ...)
{
    const git_error *last = result != AP_GITLIB_NO_MEMORY ? ap_gitlib.error_last() : NULL;
    char what[600];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (result == AP_GITLIB_NO_MEMORY)
        return ap_err_set(err, "ENOMEM", "%s: out of memory", what);
    return ap_err_set(err, code_of(result, last != NULL ? last->klass : 0), "%s: %s", what,
        last != NULL && last->message != NULL ? last->message : "refused by libgit2");
}

int ap_gitlib_fail_ref(struct ap_err *err, int result, git_repository *repo, const char *name)
{
    static const char torn[] = "corrupted loose reference file: ";
    const git_error *last = result == GIT_ERROR ? ap_gitlib.error_last() : NULL;
    if (last == NULL || last->message == NULL || strncmp(last->message, torn, sizeof torn - 1) != 0)
        return ap_gitlib_fail(err, result, "%s", name);
    const char *ref = last->message + sizeof torn - 1, *common = ap_gitlib.repository_commondir(repo);
    if (strncmp(ref, "refs/", 5) != 0)
        return ap_err_set(
            err, "ETORN", "git's file %s is empty or torn: write \"ref: refs/heads/BRANCH\" into it", ref);
    return ap_err_set(err, "ETORN",
        "%s%s names no commit, as a power failure may leave it: remove that file, then git update-ref %s COMMIT. "
        "The last line of %slogs/%s has the commit as its second word; or git fsck --lost-found finds it",
        common, ref, ref, common, ref);
}

/* Claims that no pack has an object about to be written, so that libgit2 writes it again and opens no pack. */
static int not_asked(git_odb_backend *backend, const git_oid *id)
{
    (void)backend;
    (void)id;
    return GIT_ENOTFOUND;
}

static int add_backends(git_odb *odb, const char *directory)
{
    git_odb_backend *loose = NULL, *packs = NULL;
    int result = ap_gitlib.odb_backend_loose(&loose, directory, -1, 1, 0, 0);
    if (result == 0 && (result = ap_gitlib.odb_add_backend(odb, loose, 2)) < 0)
        loose->free(loose);
    if (result == 0)
        result = ap_gitlib.odb_backend_pack(&packs, directory);
    if (result < 0)
        return result;
    packs->freshen = not_asked;
    if ((result = ap_gitlib.odb_add_backend(odb, packs, 1)) < 0)
        packs->free(packs);
    return result;
}

int ap_gitlib_loose_first(git_repository *repo, struct ap_err *err)
{
    char directory[PATH_MAX], alternates[PATH_MAX];
    const char *common = ap_gitlib.repository_commondir(repo);
    if (snprintf(alternates, sizeof alternates, "%sobjects/info/alternates", common) >= (int)sizeof alternates ||
        access(alternates, F_OK) == 0)
        return 0;
    snprintf(directory, sizeof directory, "%sobjects", common);
    git_odb *odb = NULL;
    int result = ap_gitlib.odb_new(&odb);
    if (result == 0)
        result = add_backends(odb, directory);
    if (result == 0)
        result = ap_gitlib.repository_set_odb(repo, odb);
    ap_gitlib.odb_free(odb);
    return result < 0 ? ap_gitlib_fail(err, result, "the object database") : 0;
}

bool ap_gitlib_vanished(void)
{
    const git_error *last = ap_gitlib.error_last();
    return last != NULL && last->klass == GIT_ERROR_OS && strstr(last->message, strerror(ENOENT)) != NULL;
}

/* libgit2's own function, the same for all loose backends. */
static __typeof__(((git_odb_backend *)0)->write) write_once;

static int write_again(git_odb_backend *backend, const git_oid *id, const void *bytes, size_t size, git_object_t type)
{
    int result = write_once(backend, id, bytes, size, type);
    for (int again = 0; again < AP_GITLIB_TRIES && result < 0 && ap_gitlib_vanished(); again++)
        result = write_once(backend, id, bytes, size, type);
    return result;
}

int ap_gitlib_write_beside_gc(git_repository *repo, struct ap_err *err)
{
    git_odb *odb = NULL;
    git_odb_backend *backend;
    int result = ap_gitlib.repository_odb(&odb, repo);
    size_t count = result == 0 ? ap_gitlib.odb_num_backends(odb) : 0;
    for (size_t i = 0; i < count && result == 0; i++) {
        result = ap_gitlib.odb_get_backend(&backend, odb, i);
        if (result != 0 || backend->write == NULL || backend->write == write_again)
            continue;
        write_once = backend->write;
        backend->write = write_again;
    }
    ap_gitlib.odb_free(odb);
    return result < 0 ? ap_gitlib_fail(err, result, "the object database") : 0;
}

int ap_gitlib_write(git_oid *out, git_repository *repo, const void *bytes, size_t size, git_object_t type)
{
    git_odb *odb = NULL;
    int result = ap_gitlib.repository_odb(&odb, repo);
    if (result == 0)
        result = ap_gitlib.odb_write(out, odb, bytes, size, type);
    ap_gitlib.odb_free(odb);
    return result;
}

int ap_gitlib_wrap(git_repository **out, git_repository *repo, struct ap_err *err)
{
    git_odb *odb = NULL;
    git_config *config = NULL;
    git_index *index = NULL;
    git_repository *wrapped = NULL;
    int result = ap_gitlib.repository_odb(&odb, repo);
    if (result == 0)
        result = ap_gitlib.repository_wrap_odb(&wrapped, odb);
    if (result == 0)
        result = ap_gitlib.config_new(&config);
    if (result == 0)
        result = ap_gitlib.repository_set_config(wrapped, config);
    if (result == 0)
        result = ap_gitlib.index_new(&index);
    if (result == 0)
        result = ap_gitlib.repository_set_index(wrapped, index);
    if (result < 0) {
        ap_gitlib_fail(err, result, "object database");
        ap_gitlib.repository_free(wrapped);
        wrapped = NULL;
    }
    ap_gitlib.index_free(index);
    ap_gitlib.config_free(config);
    ap_gitlib.odb_free(odb);
    *out = wrapped;
    return result < 0 ? -1 : 0;
}

/* The length of a character that file systems of macOS drop from names; 0 for any other. */
static size_t dropped(const char *at, size_t left)
{
    if (left < 3)
        return 0;
    unsigned char a = (unsigned char)at[0], b = (unsigned char)at[1], c = (unsigned char)at[2];
    bool mark = a == 0xE2 && ((b == 0x80 && ((c >= 0x8C && c <= 0x8F) || (c >= 0xAA && c <= 0xAE))) ||
                                 (b == 0x81 && c >= 0xAA && c <= 0xAF));
    return mark || (a == 0xEF && b == 0xBB && c == 0xBF) ? 3 : 0;
}

/* Whether some system takes a name for .git: in any case, with characters that macOS drops, by Windows' short name,
 * with blanks, dots or a stream's name after it. git fsck refuses such names, too. */
static bool is_dot_git(const char *part, size_t size)
{
    char name[6];
    size_t length = 0;
    for (size_t at = 0, skip; at < size && part[at] != ':'; at += skip > 0 ? skip : 1) {
        skip = dropped(part + at, size - at);
        if (skip > 0)
            continue;
        if (length < sizeof name - 1)
            name[length++] = part[at];
        else if (part[at] != '.' && part[at] != ' ')
            return false;
    }
    while (length > 0 && (name[length - 1] == '.' || name[length - 1] == ' '))
        length--;
    name[length] = '\0';
    return strcasecmp(name, ".git") == 0 || strcasecmp(name, "git~1") == 0;
}

/* The same of what Windows takes for several names: a backslash parts them there. */
static bool has_dot_git(const char *part, size_t size)
{
    for (const char *end = part + size; part <= end;) {
        const char *stroke = memchr(part, '\\', (size_t)(end - part));
        if (is_dot_git(part, (size_t)((stroke != NULL ? stroke : end) - part)))
            return true;
        part = (stroke != NULL ? stroke : end) + 1;
    }
    return false;
}

int ap_gitlib_check_path(const char *path, size_t length, struct ap_err *err)
{
    if (length == 0 || memchr(path, '\0', length) != NULL)
        return ap_err_set(err, "EPATH", "path \"%s\" %s", path, length == 0 ? "is empty" : "has a NUL byte");
    for (const char *part = path, *end = path + length; part <= end;) {
        const char *slash = memchr(part, '/', (size_t)(end - part));
        size_t size = (size_t)((slash != NULL ? slash : end) - part);
        if (size == 0 || (size == 1 && part[0] == '.') || (size == 2 && memcmp(part, "..", 2) == 0) ||
            has_dot_git(part, size))
            return ap_err_set(err, "EPATH",
                "path \"%s\" has a component that is empty, \".\", \"..\" or \".git\" for some system", path);
        part += size + 1;
    }
    return 0;
}

/* What one level of the recursion shares with the next. */
struct editing {
    git_repository *repo;
    struct ap_err *err;
};

/* The edits [first, first + count) share `skip` bytes of path; the caller's builder represents that directory. */
static int edit_level(git_oid *out, size_t *left, const struct editing *editing, const git_oid *base,
    struct ap_gitlib_edit *first, size_t count, size_t skip);

static bool is_leaf(const struct ap_gitlib_edit *edit, size_t skip)
{
    return strchr(edit->path + skip, '/') == NULL;
}

static int delete_leaf(git_treebuilder *builder, const struct ap_gitlib_edit *edit, size_t skip, struct ap_err *err)
{
    const git_tree_entry *entry = ap_gitlib.treebuilder_get(builder, edit->path + skip);
    if (entry == NULL)
        return 0;
    if (ap_gitlib.tree_entry_filemode(entry) == GIT_FILEMODE_TREE)
        return ap_err_set(err, "EPATH", "%s is a directory", edit->path);
    int result = ap_gitlib.treebuilder_remove(builder, edit->path + skip);
    return result < 0 ? ap_gitlib_fail(err, result, "%s", edit->path) : 0;
}

static int insert_leaf(git_treebuilder *builder, const struct ap_gitlib_edit *edit, size_t skip, struct ap_err *err)
{
    const git_tree_entry *entry = ap_gitlib.treebuilder_get(builder, edit->path + skip);
    unsigned old = entry != NULL ? ap_gitlib.tree_entry_filemode(entry) : 0;
    if (old == GIT_FILEMODE_TREE)
        return ap_err_set(err, "EPATH", "%s is a directory", edit->path);
    unsigned mode = edit->keep_mode && old == GIT_FILEMODE_BLOB_EXECUTABLE ? old : edit->mode;
    int result = ap_gitlib.treebuilder_insert(NULL, builder, edit->path + skip, &edit->id, (git_filemode_t)mode);
    return result < 0 ? ap_gitlib_fail(err, result, "%s", edit->path) : 0;
}

static int edit_directory(
    git_treebuilder *builder, const struct editing *editing, struct ap_gitlib_edit *first, size_t count, size_t skip)
{
    size_t size = (size_t)(strchr(first->path + skip, '/') - (first->path + skip)), left;
    char *name = strndup(first->path + skip, size);
    if (name == NULL)
        return ap_err_set(editing->err, "ENOMEM", "out of memory");
    const git_tree_entry *entry = ap_gitlib.treebuilder_get(builder, name);
    bool tree = entry != NULL && ap_gitlib.tree_entry_filemode(entry) == GIT_FILEMODE_TREE;
    git_oid id;
    int result = -1, any = 0;
    for (size_t i = 0; i < count; i++)
        any |= first[i].mode != 0;
    if (entry != NULL && !tree) {
        result =
            any ? ap_err_set(editing->err, "EPATH", "%s runs through %s, which is not a directory", first->path, name)
                : 0;
        goto out;
    }
    if (tree)
        id = *ap_gitlib.tree_entry_id(entry);
    if (edit_level(&id, &left, editing, tree ? &id : NULL, first, count, skip + size + 1) != 0)
        goto out;
    if (left > 0)
        result = ap_gitlib.treebuilder_insert(NULL, builder, name, &id, GIT_FILEMODE_TREE);
    else
        result = tree ? ap_gitlib.treebuilder_remove(builder, name) : 0;
    if (result < 0)
        ap_gitlib_fail(editing->err, result, "%s", name);
out:
    free(name);
    return result < 0 ? -1 : 0;
}

static size_t directory_extent(const struct ap_gitlib_edit *first, size_t count, size_t skip)
{
    size_t size = (size_t)(strchr(first->path + skip, '/') - first->path) + 1, extent = 1;
    while (extent < count && strncmp(first[extent].path, first->path, size) == 0)
        extent++;
    return extent;
}

/* Deletions first, then directories, then files: so one call can turn a file into a directory, or a directory into a
 * file. */
static int edit_entries(
    git_treebuilder *builder, const struct editing *editing, struct ap_gitlib_edit *first, size_t count, size_t skip)
{
    for (size_t i = 0; i < count; i++)
        if (is_leaf(&first[i], skip) && first[i].mode == 0 && delete_leaf(builder, &first[i], skip, editing->err) != 0)
            return -1;
    for (size_t i = 0; i < count;) {
        size_t extent = is_leaf(&first[i], skip) ? 0 : directory_extent(&first[i], count - i, skip);
        if (extent > 0 && edit_directory(builder, editing, &first[i], extent, skip) != 0)
            return -1;
        i += extent > 0 ? extent : 1;
    }
    for (size_t i = 0; i < count; i++)
        if (is_leaf(&first[i], skip) && first[i].mode != 0 && insert_leaf(builder, &first[i], skip, editing->err) != 0)
            return -1;
    return 0;
}

static int edit_level(git_oid *out, size_t *left, const struct editing *editing, const git_oid *base,
    struct ap_gitlib_edit *first, size_t count, size_t skip)
{
    git_tree *tree = NULL;
    git_treebuilder *builder = NULL;
    int result = base != NULL ? ap_gitlib.tree_lookup(&tree, editing->repo, base) : 0;
    if (result == 0)
        result = ap_gitlib.treebuilder_new(&builder, editing->repo, tree);
    if (result < 0) {
        ap_gitlib_fail(editing->err, result, "tree of %s", count > 0 ? first->path : "the root");
        goto out;
    }
    result = edit_entries(builder, editing, first, count, skip);
    if (result < 0)
        goto out;
    *left = ap_gitlib.treebuilder_entrycount(builder);
    if (*left > 0 || skip == 0) {
        result = ap_gitlib.treebuilder_write(out, builder);
        if (result < 0)
            ap_gitlib_fail(editing->err, result, "tree of %s", count > 0 ? first->path : "the root");
    }
out:
    ap_gitlib.treebuilder_free(builder);
    ap_gitlib.tree_free(tree);
    return result < 0 ? -1 : 0;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct ap_gitlib_edit *)a)->path, ((const struct ap_gitlib_edit *)b)->path);
}

int ap_gitlib_edit_tree(git_oid *out, git_repository *repo, const git_oid *base, struct ap_gitlib_edit *edits,
    size_t count, struct ap_err *err)
{
    struct editing editing = {repo, err};
    size_t left;
    for (size_t i = 0; i < count; i++) {
        if (ap_gitlib_check_path(edits[i].path, strlen(edits[i].path), err) != 0)
            return -1;
        int depth = 0;
        for (const char *slash = strchr(edits[i].path, '/'); slash != NULL; slash = strchr(slash + 1, '/'))
            depth++;
        if (depth > 1000)
            return ap_err_set(err, "EPATH", "a path is deeper than 1000 directories");
    }
    if (count > 1)
        qsort(edits, count, sizeof edits[0], by_path);
    return edit_level(out, &left, &editing, base, edits, count, 0);
}

int ap_gitlib_tree(git_tree **out, git_repository *repo, const git_oid *id, struct ap_err *err)
{
    int result = ap_gitlib.tree_lookup(out, repo, id);
    return result < 0 ? ap_gitlib_fail(err, result, "tree") : 0;
}
