/* SPDX-License-Identifier: MIT */
/* lfs: fs for Lua. Checks, calls fs.c or the plain system call, and pushes. Paths are bytes; raises on a NUL in one.
 * Opened by host.c as apsis.fs. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/bindings.h"
#include "state/fs.h"
#include "base/own.h"

/* Raises if the table of options at index (nil: none) has keys other than `known`, which are separated by blanks. */
static void check_options(lua_State *L, int index, const char *known)
{
    lua_settop(L, index);
    if (lua_isnil(L, index)) {
        lua_newtable(L);
        lua_replace(L, index);
    }
    luaL_checktype(L, index, LUA_TTABLE);
    for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
        const char *found = *name != '\0' ? strstr(known, name) : NULL;
        size_t length = strlen(name);
        if (found == NULL || (found != known && found[-1] != ' ') || (found[length] != ' ' && found[length] != '\0'))
            luaL_error(L, "unknown option '%s' (known: %s)", luaL_tolstring(L, -2, NULL), known);
    }
}

static bool option_bool(lua_State *L, int index, const char *name, bool otherwise)
{
    int type = lua_getfield(L, index, name);
    if (type != LUA_TNIL && type != LUA_TBOOLEAN)
        luaL_error(L, "option '%s' must be a boolean", name);
    bool value = type == LUA_TNIL ? otherwise : lua_toboolean(L, -1);
    lua_pop(L, 1);
    return value;
}

/* A limit: an integer from 0, or -1 if it is not given. */
static long long option_limit(lua_State *L, int index, const char *name)
{
    int is_integer = 1, type = lua_getfield(L, index, name);
    lua_Integer value = type == LUA_TNIL ? -1 : lua_tointegerx(L, -1, &is_integer);
    if (!is_integer || (type != LUA_TNIL && value < 0))
        luaL_error(L, "option '%s' must be an integer from 0", name);
    lua_pop(L, 1);
    return value;
}

/* For a plain system call that returns 0 or sets errno. */
static int push_called(lua_State *L, int failed, const char *path)
{
    struct ap_err err;
    if (failed)
        ap_err_errno(&err, errno, "%s", path);
    return ap_own_done(L, failed, &err);
}

static int l_fs_read(lua_State *L)
{
    struct ap_err err;
    const char *path = ap_own_path(L, 1);
    lua_Integer most = luaL_optinteger(L, 2, -1);
    luaL_argcheck(L, lua_isnoneornil(L, 2) || most >= 0, 2, "max_bytes must not be negative");
    struct ap_buf *buf = ap_own_buf(L);
    bool cut;
    if (ap_fs_read(buf, &cut, path, (size_t)most, &err) != 0)
        return ap_own_fail(L, &err);
    lua_pushlstring(L, buf->used > 0 ? buf->bytes : "", buf->used);
    if (!cut)
        return 1;
    lua_pushboolean(L, 1);
    return 2;
}

static int write_or_append(lua_State *L, bool append)
{
    struct ap_err err;
    size_t count;
    const char *path = ap_own_path(L, 1), *bytes = luaL_checklstring(L, 2, &count);
    return ap_own_done(L, ap_fs_write(path, bytes, count, append, &err), &err);
}

static int l_fs_write(lua_State *L)
{
    return write_or_append(L, false);
}

static int l_fs_append(lua_State *L)
{
    return write_or_append(L, true);
}

static int l_fs_mkdir(lua_State *L)
{
    struct ap_err err;
    return ap_own_done(L, ap_fs_mkdir(ap_own_path(L, 1), &err), &err);
}

static int l_fs_remove_tree(lua_State *L)
{
    struct ap_err err;
    return ap_own_done(L, ap_fs_remove_tree(ap_own_path(L, 1), &err), &err);
}

static int l_fs_remove(lua_State *L)
{
    const char *path = ap_own_path(L, 1);
    return push_called(L, unlink(path), path);
}

static int l_fs_rename(lua_State *L)
{
    const char *from = ap_own_path(L, 1), *to = ap_own_path(L, 2);
    return push_called(L, rename(from, to), from);
}

static int l_fs_chmod(lua_State *L)
{
    const char *path = ap_own_path(L, 1);
    lua_Integer mode = luaL_checkinteger(L, 2);
    luaL_argcheck(L, mode >= 0 && mode <= 07777, 2, "mode must be within 0 and 4095 (octal 7777)");
    return push_called(L, chmod(path, (mode_t)mode), path);
}

static int l_fs_chdir(lua_State *L)
{
    const char *path = ap_own_path(L, 1);
    return push_called(L, chdir(path), path);
}

static int l_fs_symlink(lua_State *L)
{
    struct ap_err err;
    const char *target = ap_own_path(L, 1), *path = ap_own_path(L, 2);
    check_options(L, 3, "replace");
    bool replace = option_bool(L, 3, "replace", false);
    return ap_own_done(L, ap_fs_symlink(target, path, replace, &err), &err);
}

static int l_fs_copy_tree(lua_State *L)
{
    struct ap_err err;
    struct ap_fs_copied copied;
    const char *from = ap_own_path(L, 1), *to = ap_own_path(L, 2);
    check_options(L, 3, "max_bytes max_files");
    long long max_bytes = option_limit(L, 3, "max_bytes"), max_files = option_limit(L, 3, "max_files");
    if (ap_fs_copy_tree(&copied, from, to, max_bytes, max_files, &err) != 0)
        return ap_own_fail(L, &err);
    lua_createtable(L, 0, 3);
    lua_pushinteger(L, copied.files);
    lua_setfield(L, -2, "files");
    lua_pushinteger(L, copied.bytes);
    lua_setfield(L, -2, "bytes");
    lua_pushinteger(L, copied.skipped);
    lua_setfield(L, -2, "skipped");
    return 1;
}

static int l_fs_stat(lua_State *L)
{
    struct stat st;
    const char *path = ap_own_path(L, 1);
    check_options(L, 2, "follow");
    bool follow = option_bool(L, 2, "follow", true);
    if ((follow ? stat(path, &st) : lstat(path, &st)) != 0)
        return push_called(L, -1, path);
    lua_createtable(L, 0, 7);
    lua_pushstring(L, S_ISREG(st.st_mode)   ? "file"
                      : S_ISDIR(st.st_mode) ? "directory"
                      : S_ISLNK(st.st_mode) ? "link"
                                            : "other");
    lua_setfield(L, -2, "type");
    lua_pushinteger(L, (lua_Integer)st.st_size);
    lua_setfield(L, -2, "size");
    lua_pushinteger(L, (lua_Integer)(st.st_mode & 07777));
    lua_setfield(L, -2, "mode");
    lua_pushnumber(L, (lua_Number)st.st_mtim.tv_sec + (lua_Number)st.st_mtim.tv_nsec * 1e-9);
    lua_setfield(L, -2, "mtime");
    lua_pushnumber(L, (lua_Number)st.st_ctim.tv_sec + (lua_Number)st.st_ctim.tv_nsec * 1e-9);
    lua_setfield(L, -2, "ctime");
    lua_pushinteger(L, (lua_Integer)st.st_ino);
    lua_setfield(L, -2, "ino");
    lua_pushinteger(L, (lua_Integer)st.st_uid);
    lua_setfield(L, -2, "uid");
    return 1;
}

/* Strings from malloc, or a whole directory, boxed. */
struct listing {
    struct ap_own own;
    DIR *dir;
    char *text;
};

static void listing_close(void *self)
{
    struct listing *listing = self;
    if (listing->dir != NULL)
        closedir(listing->dir);
    free(listing->text);
}

static struct listing *listing_box(lua_State *L)
{
    ap_own_class(L, "apsis.fs.listing", NULL);
    struct listing *listing = ap_own_new(L, sizeof *listing, "apsis.fs.listing", listing_close);
    listing->own.open = true;
    lua_toclose(L, -1);
    return listing;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Gathers all names, each NUL-terminated; 0, or -1 and errno. */
static int gather_names(DIR *dir, struct ap_buf *names, size_t *count)
{
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(dir);
        if (entry == NULL)
            return errno != 0 ? -1 : 0;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (ap_buf_add(names, entry->d_name, strlen(entry->d_name) + 1) != 0) {
            errno = ENOMEM;
            return -1;
        }
        ++*count;
    }
}

static int l_fs_list(lua_State *L)
{
    const char *path = ap_own_path(L, 1);
    struct listing *listing = listing_box(L);
    struct ap_buf *names = ap_own_buf(L), *order = ap_own_buf(L);
    size_t count = 0;
    listing->dir = opendir(path);
    if (listing->dir == NULL || gather_names(listing->dir, names, &count) != 0)
        return push_called(L, -1, path);
    if (count > INT_MAX || ap_buf_reserve(order, count * sizeof(char *)) != 0) {
        errno = ENOMEM;
        return push_called(L, -1, path);
    }
    char **sorted = (char **)(void *)order->bytes;
    for (size_t i = 0, at = 0; i < count; i++, at += strlen(names->bytes + at) + 1)
        sorted[i] = names->bytes + at;
    if (count > 1)
        qsort(sorted, count, sizeof *sorted, compare_names);
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        lua_pushstring(L, sorted[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static int l_fs_readlink(lua_State *L)
{
    char target[PATH_MAX];
    const char *path = ap_own_path(L, 1);
    ssize_t length = readlink(path, target, sizeof target);
    if (length < 0)
        return push_called(L, -1, path);
    lua_pushlstring(L, target, (size_t)length);
    return 1;
}

static int l_fs_realpath(lua_State *L)
{
    char real[PATH_MAX];
    const char *path = ap_own_path(L, 1);
    if (realpath(path, real) == NULL)
        return push_called(L, -1, path);
    lua_pushstring(L, real);
    return 1;
}

static int l_fs_cwd(lua_State *L)
{
    struct listing *listing = listing_box(L);
    listing->text = getcwd(NULL, 0);
    if (listing->text == NULL)
        return push_called(L, -1, "current directory");
    lua_pushstring(L, listing->text);
    return 1;
}

static int l_fs_tempdir(lua_State *L)
{
    char path[PATH_MAX];
    const char *prefix = lua_isnoneornil(L, 1) ? "apsis-" : ap_own_path(L, 1), *folder = getenv("TMPDIR");
    luaL_argcheck(L, strchr(prefix, '/') == NULL, 1, "a prefix cannot contain '/'");
    if (folder == NULL || *folder == '\0')
        folder = "/tmp";
    int length = snprintf(path, sizeof path, "%s/%sXXXXXX", folder, prefix);
    if (length >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return push_called(L, -1, prefix);
    }
    if (mkdtemp(path) == NULL)
        return push_called(L, -1, folder);
    lua_pushstring(L, path);
    return 1;
}

static int l_fs_glob_match(lua_State *L)
{
    const char *pattern = ap_own_path(L, 1), *path = ap_own_path(L, 2);
    lua_pushboolean(L, ap_fs_glob_match(pattern, path));
    return 1;
}

static int l_fs_free_bytes(lua_State *L)
{
    struct statvfs st;
    const char *path = ap_own_path(L, 1);
    if (statvfs(path, &st) != 0)
        return push_called(L, -1, path);
    lua_pushinteger(L, (lua_Integer)st.f_bavail * (lua_Integer)st.f_frsize);
    return 1;
}

int luaopen_apsis_fs(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"read", l_fs_read},
        {"write", l_fs_write},
        {"append", l_fs_append},
        {"mkdir", l_fs_mkdir},
        {"remove", l_fs_remove},
        {"remove_tree", l_fs_remove_tree},
        {"rename", l_fs_rename},
        {"list", l_fs_list},
        {"stat", l_fs_stat},
        {"symlink", l_fs_symlink},
        {"readlink", l_fs_readlink},
        {"realpath", l_fs_realpath},
        {"copy_tree", l_fs_copy_tree},
        {"chmod", l_fs_chmod},
        {"cwd", l_fs_cwd},
        {"chdir", l_fs_chdir},
        {"tempdir", l_fs_tempdir},
        {"glob_match", l_fs_glob_match},
        {"free_bytes", l_fs_free_bytes},
        {NULL, NULL},
    };
    luaL_newlib(L, functions);
    return 1;
}
