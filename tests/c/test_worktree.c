/* SPDX-License-Identifier: MIT */
/* test_worktree: dirtree, wtlist and worktree over objects in a folder, against what a hostile program leaves on
 * disk. */
#define _GNU_SOURCE
#include "worktree/worktree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worktree/dirtree.h"
#define TRIP_WITHOUT_STAT
#include "tap.h"
#include "trip.h"
#include "vanish.h"

static char dir[] = "/tmp/apsis-test-worktree-c-XXXXXX";
static struct ap_err err;
static int root;      /* the working directory */
static bool believes; /* whether a file's times prove anything there */

/* While it is above 0, the time of every file, as after a change within one tick of the clock. */
static time_t frozen;

static int freeze(int result, struct stat *st)
{
    if (result == 0 && frozen > 0)
        st->st_mtim = st->st_ctim = (struct timespec){.tv_sec = frozen};
    return result;
}

int fstat(int fd, struct stat *st)
{
    return trips() ? -1 : freeze((int)syscall(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH), st);
}

int fstatat(int parent, const char *restrict path, struct stat *restrict st, int flags)
{
    return trips() ? -1 : freeze((int)syscall(SYS_newfstatat, parent, path, st, flags), st);
}

/* What the file system does with a mapping: as it is; its times do not show the writes, or do; it has none. */
static enum { MAPPED, MAPPED_UNSEEN, MAPPED_SEEN, MAPPED_REFUSED } mapped;

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t from)
{
    if (mapped == MAPPED_UNSEEN && fd >= 0)
        flags = MAP_PRIVATE;
    if (mapped == MAPPED_SEEN && fd >= 0)
        futimens(fd, NULL);
    if (mapped == MAPPED_REFUSED && fd >= 0)
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, from);
}

static int descriptors(void)
{
    int count = 0;
    DIR *open_files = opendir("/proc/self/fd");
    while (readdir(open_files) != NULL)
        count++;
    closedir(open_files);
    return count;
}

static git_repository *open_objects(void)
{
    static const char *const folders[] = {"", "/objects", "/refs", "/refs/heads"};
    char path[300];
    git_repository *repo = NULL;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(path, sizeof path, "%s/.git%s", dir, folders[i]);
        mkdir(path, 0755);
    }
    snprintf(path, sizeof path, "%s/.git/HEAD", dir);
    FILE *head = fopen(path, "w");
    fputs("ref: refs/heads/main\n", head);
    fclose(head);
    ok(ap_gitlib_load(&err) == 0 && ap_gitlib.repository_open_ext(&repo, dir, 0, NULL) == 0, "a repository opens");
    return repo;
}

/* A tree of `count` files d0/f0, d0/f1 ..., ten to a directory. */
static git_oid many_files(git_repository *repo, size_t count)
{
    struct ap_gitlib_edit *edits = calloc(count, sizeof *edits);
    char(*paths)[48] = calloc(count, sizeof *paths);
    git_oid tree = {{0}};
    for (size_t i = 0; i < count; i++) {
        snprintf(paths[i], sizeof paths[i], "d%zu/f%zu", i / 10, i);
        edits[i] = (struct ap_gitlib_edit){.path = paths[i], .mode = 0100644};
        ap_gitlib_write(&edits[i].id, repo, paths[i], strlen(paths[i]), GIT_OBJECT_BLOB);
    }
    ok(ap_gitlib_edit_tree(&tree, repo, NULL, edits, count, &err) == 0, "a tree of %zu files", count);
    free(edits);
    free(paths);
    return tree;
}

static void put(const char *path, const char *text)
{
    int fd = openat(root, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ssize_t written = write(fd, text, strlen(text));
    (void)written;
    close(fd);
}

/* "kind path" of each change, concatenated. */
static const char *changes(struct ap_worktree *worktree)
{
    static char text[2000];
    struct ap_buf out = {0};
    text[0] = '\0';
    if (ap_worktree_changes(&out, worktree, false, &err) != 0)
        return err.code;
    for (char *at = out.bytes; out.used > 0 && at < out.bytes + out.used;) {
        const char *path = at, *kind = at + strlen(at) + 1;
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s %s", used > 0 ? ", " : "", kind, path);
        for (int i = 0; i < 7; i++)
            at += strlen(at) + 1;
    }
    ap_buf_dispose(&out);
    return text;
}

static void test_cycle(struct ap_worktree *worktree, const git_oid *tree)
{
    struct ap_worktree_done did;
    git_oid written;
    ok(ap_worktree_checkout(&did, worktree, tree, NULL, 0, &err) == 0 && did.written == 50, "all files are written");
    ok(strcmp(changes(worktree), "") == 0, "then nothing differs");
    put("d0/f1", "D0/f1");
    put("d0/new", "x");
    unlinkat(root, "d4/f40", 0);
    const char *found = changes(worktree);
    ok(strcmp(found, "modified d0/f1, added d0/new, deleted d4/f40") == 0, "edits show: %s", found);
    ok(ap_worktree_write_all(&written, worktree, &err) == 0 && memcmp(&written, tree, sizeof written) != 0,
        "and make a tree");
    ok(ap_worktree_assume(worktree, tree, NULL, 0, &err) == 0, "a tree can be said to be there");
    found = changes(worktree);
    ok(strcmp(found, "modified d0/f1, added d0/new, deleted d4/f40") == 0, "and then edits show as well: %s", found);
    ok(ap_worktree_checkout(&did, worktree, &written, NULL, 0, &err) == 0 && did.written == 0,
        "which is what is there");
    ok(ap_worktree_checkout(&did, worktree, tree, NULL, 0, &err) == 0 && did.written == 2 && did.removed == 1,
        "and back");
}

static void test_hidden(struct ap_worktree *worktree, const git_oid *tree)
{
    struct ap_worktree_done did;
    git_oid written;
    const char *hide[] = {"d0", "d1/f10"};
    ok(ap_worktree_checkout(&did, worktree, tree, hide, 2, &err) == 0 && did.removed == 2, "hidden paths are removed");
    ok(faccessat(root, "d0", F_OK, 0) != 0 && faccessat(root, "d1/f10", F_OK, 0) != 0, "and not there");
    ok(strcmp(changes(worktree), "") == 0, "which is no change");
    ok(ap_worktree_write_all(&written, worktree, &err) == 0 && memcmp(&written, tree, sizeof written) == 0,
        "nor one to the tree");
}

/* How many files are found as touched. */
static int touched(struct ap_worktree *worktree)
{
    struct ap_buf out = {0};
    int count = ap_worktree_changes(&out, worktree, true, &err), field = 0;
    for (size_t at = 0; at < out.used; at += strlen(out.bytes + at) + 1)
        count += field++ % 7 == 1 && strcmp(out.bytes + at, "touched") == 0;
    ap_buf_dispose(&out);
    return count;
}

static void move(const char *from, const char *to)
{
    if (renameat(root, from, root, to) != 0)
        ok(false, "%s becomes %s", from, to);
}

static const char *const nested[] = {"d/x/a", "d/x/s/b", "d/x/t", "d/xa", "d/y", "d-/q", "d0/z"};
enum { NESTED = sizeof nested / sizeof nested[0] };

/* What is there of the tree of the paths `nested`, a letter for each of its files. */
static const char *nested_there(void)
{
    static char there[NESTED + 1];
    int count = 0;
    for (size_t i = 0; i < NESTED; i++)
        if (faccessat(root, nested[i], F_OK, 0) == 0)
            there[count++] = nested[i][strlen(nested[i]) - 1];
    there[count] = '\0';
    return there;
}

/* Hidden paths below folders that stay as they were from one checkout to the next. */
static void test_hidden_below(struct ap_worktree *worktree)
{
    static const struct {
        const char *hide[3], *there;
    } cases[] = {{{"d/x"}, "ayqz"}, {{"d/x/s"}, "atayqz"}, {{"d/x/a", "d/x/s"}, "tayqz"}, {{"d"}, "qz"},
        {{"d/x", "d/x/s", "d/y"}, "aqz"}, {{"d/x/a", "d/xa"}, "btyqz"}, {{"d/x/s", "d/y"}, "ataqz"}};
    git_repository *repo = open_objects();
    struct ap_gitlib_edit edits[NESTED];
    struct ap_worktree_done did;
    git_oid tree, written;
    for (size_t i = 0; i < NESTED; i++) {
        edits[i] = (struct ap_gitlib_edit){.path = nested[i], .mode = 0100644};
        ap_gitlib_write(&edits[i].id, repo, "x", 1, GIT_OBJECT_BLOB);
    }
    ok(ap_gitlib_edit_tree(&tree, repo, NULL, edits, NESTED, &err) == 0, "folders in folders");
    ap_gitlib.repository_free(repo);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *hide[3];
        size_t count = 0;
        while (count < 3 && cases[i].hide[count] != NULL) {
            hide[count] = cases[i].hide[count];
            count++;
        }
        ok(ap_worktree_checkout(&did, worktree, &tree, NULL, 0, &err) == 0 && strcmp(nested_there(), "abtayqz") == 0 &&
                strcmp(changes(worktree), "") == 0,
            "all is there");
        ok(ap_worktree_checkout(&did, worktree, &tree, hide, count, &err) == 0 &&
                strcmp(nested_there(), cases[i].there) == 0 && strcmp(changes(worktree), "") == 0 &&
                ap_worktree_write_all(&written, worktree, &err) == 0 && memcmp(&written, &tree, sizeof tree) == 0,
            "but what %zu paths hide (%s ...): %s", count, hide[0], nested_there());
    }
}

/* What only somebody who asks for what was touched gets to know. */
static void test_touched(struct ap_worktree *worktree, const git_oid *tree)
{
    struct ap_worktree_done did;
    struct ap_buf out = {0};
    ok(ap_worktree_checkout(&did, worktree, tree, NULL, 0, &err) == 0, "checked out");
    for (int i = 0; i < 10; i++) {
        char name[30];
        snprintf(name, sizeof name, "d0/f%d", i);
        unlinkat(root, name, 0);
    }
    mkdirat(root, "e", 0755);
    mkdirat(root, "g", 0755);
    mkdirat(root, "g/e", 0755);
    ok(ap_worktree_changes(&out, worktree, true, &err) == 0, "changes");
    int empty = 0, field = 0;
    for (size_t at = 0; at < out.used; at += strlen(out.bytes + at) + 1)
        if (field++ % 7 == 0)
            empty += strcmp(out.bytes + at, "e") == 0 ? 1 : strcmp(out.bytes + at, "g/e") == 0 ? 2 : 0;
    ok(field == 12 * 7 && empty == 3, "empty folders are added, those of the tree are not: %d", field / 7);
    ap_buf_dispose(&out);
    ok(strstr(changes(worktree), "added") == NULL, "nobody else is shown them");
    ok(ap_worktree_checkout(&did, worktree, tree, NULL, 0, &err) == 0 && did.removed == 2 && did.written == 10, "back");
    if (geteuid() == 0)
        ok(fchownat(root, "d0/f1", 1, 1, 0) == 0 && ap_worktree_checkout(&did, worktree, tree, NULL, 0, &err) == 0 &&
                did.written == 1,
            "a file that is somebody else's is written again");
}

static git_oid open_tree;
static git_repository *open_repository;

/* Files and folders whose modes forbid their owner to read, to list, to enter or to change them: 0, or which step went
 * wrong. */
static int forbidden(void)
{
    static const mode_t modes[] = {0, 0100, 0200, 0300, 0400, 0500, 0600, 0700};
    char place[100], command[120];
    struct ap_worktree *worktree;
    struct ap_worktree_done did;
    int wrong = 0;
    snprintf(place, sizeof place, "%s/open/wt", dir);
    if (ap_worktree_open(&worktree, open_repository, place, &err) != 0)
        return 1;
    root = open(place, O_DIRECTORY);
    for (int i = 0; i < 8 && wrong == 0; i++) {
        if (ap_worktree_checkout(&did, worktree, &open_tree, NULL, 0, &err) != 0)
            return 10 + i;
        mkdirat(root, "x", 0755);
        mkdirat(root, "x/y", 0755);
        put("x/f", "x");
        put("d1/f11", "other");
        if (fchmodat(root, "d1/f10", modes[i] & 0600, 0) != 0 || fchmodat(root, "d2", modes[i], 0) != 0 ||
            fchmodat(root, "x/y", modes[i], 0) != 0 || fchmodat(root, "x", modes[i], 0) != 0 ||
            fchmodat(root, "d0", modes[7 - i], 0) != 0 || fchmod(root, 0500) != 0)
            return 20 + i;
        if (strcmp(changes(worktree), "modified d1/f11, added x/f") != 0)
            wrong = 30 + i;
        if (ap_worktree_checkout(&did, worktree, &open_tree, NULL, 0, &err) != 0 || did.removed != 1 ||
            strcmp(changes(worktree), "") != 0)
            wrong = 40 + i;
        mkdirat(root, "d3/z", 0755);
        put("d3/z/f", "x");
        if (fchmodat(root, "d3/z", modes[i], 0) != 0 || fchmodat(root, "d3", modes[i], 0) != 0 ||
            ap_worktree_checkout(&did, worktree, &open_tree, NULL, 0, &err) != 0 || did.removed != 1 ||
            faccessat(root, "d3/z", F_OK, 0) == 0)
            wrong = 50 + i;
    }
    ap_worktree_close(worktree);
    snprintf(command, sizeof command, "rm -rf %s/open/*", dir);
    return wrong != 0 ? wrong : system(command);
}

static void test_forbidden(const git_oid *tree)
{
    open_tree = *tree;
    open_repository = open_objects();
    char place[100];
    snprintf(place, sizeof place, "%s/open", dir);
    ok(chmod(dir, 0755) == 0 && mkdir(place, 0777) == 0 && chmod(place, 0777) == 0, "a folder for everybody");
    int result = trip_as_nobody(forbidden);
    ok(result == 0, "modes that forbid what is needed are no hindrance: %d", result);
    ap_gitlib.repository_free(open_repository);
}

/* A worktree whose watch has the descriptor 0. */
static void test_watch_zero(const git_oid *tree)
{
    git_repository *repo = open_objects();
    struct ap_worktree *worktree;
    struct ap_worktree_done did;
    char path[300];
    int before = descriptors(), there = root, input = fcntl(0, F_DUPFD_CLOEXEC, 10);
    snprintf(path, sizeof path, "%s/zero", dir);
    ok(ap_worktree_open(&worktree, repo, path, &err) == 0 &&
            ap_worktree_checkout(&did, worktree, tree, NULL, 0, &err) == 0,
        "another worktree");
    root = open(path, O_DIRECTORY);
    close(0);
    ok(ap_worktree_watch(worktree, &err) == 0 && fcntl(0, F_GETFD) >= 0, "is watched by descriptor 0");
    move("d1", "d9");
    move("d9", "d1");
    ok(ap_worktree_watch(worktree, &err) == 0 && touched(worktree) == 0, "once more");
    move("d1", "d9");
    move("d9", "d1");
    ok(touched(worktree) == 10, "which sees what is moved");
    ap_worktree_close(worktree);
    ok(fcntl(0, F_GETFD) < 0, "and is closed in the end");
    close(root);
    root = there;
    dup2(input, 0);
    close(input);
    ap_gitlib.repository_free(repo);
    ok(descriptors() == before, "no descriptor is left");
}

/* Whether a file's times show what a mapping of it writes, by what the file system does. */
static void test_times(void)
{
    mapped = MAPPED_UNSEEN;
    ok(!ap_dirtree_times_prove(root), "where they do not");
    mapped = MAPPED_SEEN;
    ok(ap_dirtree_times_prove(root), "where they do");
    put(".apsis-times", "in the way");
    ok(!ap_dirtree_times_prove(root), "where it cannot be tried");
    mapped = MAPPED_REFUSED;
    ok(!ap_dirtree_times_prove(root) && faccessat(root, ".apsis-times", F_OK, 0) != 0, "where nothing can be mapped");
    mapped = MAPPED;
}

static void test_hostile(struct ap_worktree *worktree, const git_oid *tree)
{
    struct ap_worktree_done did;
    char outside[300], held[30];
    snprintf(outside, sizeof outside, "%s/outside", dir);
    mkdir(outside, 0755);
    snprintf(outside, sizeof outside, "%s/outside/f0", dir);
    close(open(outside, O_WRONLY | O_CREAT, 0600));
    ap_worktree_checkout(&did, worktree, tree, NULL, 0, &err);
    ap_dirtree_remove(root, root, "d0", &err);
    ok(symlinkat("../outside", root, "d0") == 0, "a directory becomes a link out");
    snprintf(held, sizeof held, ".apsis-removed-%ld-0", (long)getpid());
    put(held, "in the way of removal");
    int fd = openat(root, ".", O_DIRECTORY);
    for (int i = 0; i < 3000 && fd >= 0; i++) {
        mkdirat(fd, "deep", 0755);
        int next = openat(fd, "deep", O_DIRECTORY);
        close(fd);
        fd = next;
    }
    close(fd);
    mkfifoat(root, "fifo", 0644);
    const char *found = changes(worktree);
    ok(strstr(found, "added d0, deleted d0/f0") != NULL && strstr(found, "added fifo") != NULL, "all is seen: %.80s",
        found);
    ok(ap_worktree_checkout(&did, worktree, tree, NULL, 0, &err) == 0, "and cleared away: %s", err.message);
    ok(strcmp(changes(worktree), "") == 0, "to exactly the tree");
    ok(access(outside, F_OK) == 0, "and nothing outside was touched");
    ok(ap_dirtree_open(root, "../outside") < 0 && ap_dirtree_open(root, "d1/../../outside") < 0,
        "dot-dot leads nowhere");
    char name[NAME_MAX + 2];
    memset(name, 'n', sizeof name);
    name[NAME_MAX + 1] = '\0';
    ok(ap_dirtree_open(root, name) < 0 && errno == ENAMETOOLONG, "and a name that is too long nowhere, either");
}

/* A folder that cannot be moved aside: it holds the place to which it would go. */
static void test_stuck(void)
{
    mkdirat(root, "stuck", 0755);
    mkdirat(root, "stuck/inside", 0755);
    int inside = openat(root, "stuck/inside", O_DIRECTORY);
    ok(ap_dirtree_remove(inside, root, "stuck", &err) != 0 && strcmp(err.code, "EINVAL") == 0,
        "a folder that cannot be moved is not removed: %s", err.message);
    close(inside);
    ok(ap_dirtree_remove(root, root, "stuck", &err) == 0, "from elsewhere it is");
}

/* How many events that nobody has read yet the kernel keeps. */
static int events_kept(void)
{
    static int kept;
    FILE *file = kept > 0 ? NULL : fopen("/proc/sys/fs/inotify/max_queued_events", "r");
    if (file != NULL) {
        if (fscanf(file, "%d", &kept) != 1)
            kept = 0;
        fclose(file);
    }
    return kept;
}

static void test_moved(struct ap_worktree *worktree, const git_oid *tree)
{
    struct ap_worktree_done did;
    ok(ap_worktree_checkout(&did, worktree, tree, NULL, 0, &err) == 0 && touched(worktree) == 0, "nothing is touched");
    move("d1", "d9");
    move("d9", "d1");
    ok(touched(worktree) == 0, "a folder that is moved before anybody watches counts for nothing");
    ok(ap_worktree_watch(worktree, &err) == 0 && touched(worktree) == 0, "nor where one watches then");
    move("d1", "d9");
    move("d9", "d1");
    ok(touched(worktree) == 10, "what lies in a folder that was moved away and back is touched");
    ok(ap_worktree_watch(worktree, &err) == 0 && touched(worktree) == 0, "until it is watched again");
    for (int i = 0; i < 1200; i++) { /* alternating: the kernel merges identical consecutive events */
        move(i % 2 == 0 ? "d2" : "d4", "d9");
        move("d9", i % 2 == 0 ? "d2" : "d4");
    }
    ok(touched(worktree) == 20, "moved a thousand times as well, and nothing beside it");
    ok(ap_worktree_watch(worktree, &err) == 0, "watched");
    for (int i = 0; i < events_kept(); i++) { /* two events each: more than the kernel keeps */
        move(i % 2 == 0 ? "d2" : "d4", "d9");
        move("d9", i % 2 == 0 ? "d2" : "d4");
    }
    ok(touched(worktree) == 50, "if events were lost, everything may be touched: %d", touched(worktree));
    ok(ap_worktree_watch(worktree, &err) == 0, "watched");
    move("d1", "d9");
    move("d9", "d1");
    ok(ap_worktree_checkout(&did, worktree, tree, NULL, 0, &err) == 0 && touched(worktree) == 0,
        "what was moved before a checkout counts for nothing after it");
    ok(ap_worktree_watch(worktree, &err) == 0, "watched");
    move("d3", "d9");
    ok(touched(worktree) == 0, "what is gone with its folder is deleted, not touched");
    ok(ap_worktree_checkout(&did, worktree, tree, NULL, 0, &err) == 0 && ap_worktree_watch(worktree, &err) == 0 &&
            touched(worktree) == 0,
        "and what a checkout does counts for nothing");
}

/* Folders with paths as long as the system accepts, or longer, are watched, and so are those after them. */
static void test_deep(struct ap_worktree *worktree)
{
    git_repository *repo = open_objects();
    struct ap_worktree_done did;
    char paths[2][4400] = {"", "z/f"};
    struct ap_gitlib_edit edits[2];
    git_oid tree;
    for (size_t length = 0; length < 4300; length = strlen(paths[0]))
        snprintf(
            paths[0] + length, sizeof paths[0] - length, "%s", length < 4000 ? "aaaaaaaaaaaaaaaaaaaaaaa/" : "aaa/");
    strcat(paths[0], "f");
    for (int i = 0; i < 2; i++) {
        edits[i] = (struct ap_gitlib_edit){.path = paths[i], .mode = 0100644};
        ap_gitlib_write(&edits[i].id, repo, "x", 1, GIT_OBJECT_BLOB);
    }
    ok(ap_gitlib_edit_tree(&tree, repo, NULL, edits, 2, &err) == 0, "a tree with a path of %zu bytes",
        strlen(paths[0]));
    ok(ap_worktree_checkout(&did, worktree, &tree, NULL, 0, &err) == 0 && ap_worktree_watch(worktree, &err) == 0,
        "is watched: %s", err.message);
    move("z", "y");
    move("y", "z");
    ok(touched(worktree) == 1, "a folder after it that is moved is seen");
    ok(ap_worktree_watch(worktree, &err) == 0, "watched");
    int at = root;
    for (int i = 0; i < 170; i++) {
        int next = openat(at, "aaaaaaaaaaaaaaaaaaaaaaa", O_DIRECTORY | O_RDONLY);
        if (next < 0)
            next = openat(at, "aaa", O_DIRECTORY | O_RDONLY);
        if (at != root)
            close(at);
        at = next;
    }
    ok(renameat(at, "aaa", at, "bbb") == 0 && renameat(at, "bbb", at, "aaa") == 0 && touched(worktree) == 1,
        "and one in the depth");
    close(at);
    ap_gitlib.repository_free(repo);
}

/* A file that changes without a change of its size or times, just after it was written, and long after. */
static void test_racy(struct ap_worktree *worktree, const git_oid *tree)
{
    struct ap_worktree_done did;
    frozen = time(NULL) + 3600; /* in the future, however slow the machine is */
    ok(ap_worktree_checkout(&did, worktree, tree, NULL, 0, &err) == 0, "checked out");
    put("d0/f1", "d0/fX");
    ok(strcmp(changes(worktree), "modified d0/f1") == 0, "a change in the tick of the checkout is found: %s",
        changes(worktree));
    put("d0/f1", "d0/f1");
    ok(strcmp(changes(worktree), "") == 0, "and its undoing");
    put("d0/f1", "d0/fY");
    ok(strcmp(changes(worktree), "modified d0/f1") == 0, "a change in the tick of the last look is found, too");
    ok(ap_worktree_checkout(&did, worktree, tree, NULL, 0, &err) == 0 && did.written == 1, "and taken back");
    put("d0/f1", "d0/fZ");
    ok(ap_worktree_checkout(&did, worktree, tree, NULL, 0, &err) == 0 && did.written == 1, "by a checkout as well");
    frozen = time(NULL) - 60;
    ok(ap_worktree_checkout(&did, worktree, tree, NULL, 0, &err) == 0 && strcmp(changes(worktree), "") == 0,
        "times of long ago");
    put("d0/f1", "d0/fX");
    ok(strcmp(changes(worktree), believes ? "" : "modified d0/f1") == 0,
        "are believed: else every file would be read each time (%s here)", believes ? "so" : "not");
    frozen = 0;
}

/* Writes a file that it has read by the same mapping: in memory (tmpfs) its times then stay as they were. */
static void map(const char *path, const char *text)
{
    int fd = openat(root, path, O_RDWR);
    char *bytes = mmap(NULL, 5, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED || bytes[0] == '\0')
        ok(false, "%s is mapped", path);
    memcpy(bytes, text, 5);
    munmap(bytes, 5);
    close(fd);
}

static void test_mapped(struct ap_worktree *worktree, const git_oid *tree)
{
    struct ap_worktree_done did;
    ok(ap_worktree_checkout(&did, worktree, tree, NULL, 0, &err) == 0 && ap_worktree_watch(worktree, &err) == 0 &&
            touched(worktree) == 0,
        "nothing is touched");
    map("d0/f1", "d0/fX");
    map("d0/f1", "d0/f1");
    ok(touched(worktree) == 1, "a file that was written by a mapping, and put back, is touched");
    map("d0/f1", "d0/fX");
    ok(strcmp(changes(worktree), "modified d0/f1") == 0, "one that was left so is modified: %s", changes(worktree));
    ok(ap_worktree_checkout(&did, worktree, tree, NULL, 0, &err) == 0 && did.written == 1, "and is written again");
    ok(ap_worktree_watch(worktree, &err) == 0 && touched(worktree) == 0, "then it counts for nothing");
    int fd = openat(root, "d0/f1", O_RDONLY);
    ok(fd >= 0 && touched(worktree) == 0, "a file that is open for reading is not touched");
    close(fd);
}

/* The same in memory, where there is such a folder. */
static void test_memory(const git_oid *tree)
{
    static char place[] = "/dev/shm/apsis-test-worktree-c-XXXXXX";
    struct ap_worktree *worktree = NULL;
    char command[100];
    if (mkdtemp(place) == NULL)
        return;
    git_repository *repo = open_objects();
    ok(ap_worktree_open(&worktree, repo, place, &err) == 0, "a worktree in memory opens");
    ap_gitlib.repository_free(repo);
    int disk = root;
    root = open(place, O_DIRECTORY);
    test_mapped(worktree, tree);
    int fd = openat(root, "d0/f1", O_RDWR);
    ok(ap_dirtree_times_prove(root) || touched(worktree) == 1, "a file that is still open for writing is touched");
    close(fd);
    close(root);
    root = disk;
    ap_worktree_close(worktree);
    snprintf(command, sizeof command, "rm -rf '%s'", place);
    ok(system(command) == 0, "removed");
}

/* A file so large that it is written as a stream, while its object's folder vanishes. */
static void test_large(struct ap_worktree *worktree, const git_oid *tree)
{
    struct ap_worktree_done did;
    struct ap_worktree_pick pick = {.path = "large"};
    git_oid made;
    ok(ap_worktree_checkout(&did, worktree, tree, NULL, 0, &err) == 0, "checked out");
    put("large", "begins, and is long");
    int fd = openat(root, "large", O_WRONLY);
    ok(ftruncate(fd, 9 << 20) == 0, "a file of 9 MB");
    close(fd);
    vanishing = 3;
    ok(ap_worktree_write_tree(&made, worktree, &pick, 1, &err) == 0 && vanishing == 0,
        "is read back though its object's folder vanishes three times");
    ok(ap_worktree_checkout(&did, worktree, &made, NULL, 0, &err) == 0 && did.written == 0, "and is whole");
}

static struct ap_worktree *tripped;
static git_oid full, edited; /* a tree, and the same with edit's changes */

/* As it was checked out: nothing fails meanwhile. */
static void restore(const git_oid *tree)
{
    struct ap_worktree_done did;
    struct ap_err ignored;
    int at = trip_at, zero_at = trip_zero_at;
    trip_rest();
    ap_worktree_checkout(&did, tripped, tree, NULL, 0, &ignored);
    trip_at = at;
    trip_zero_at = zero_at;
}

static void edit(void)
{
    int at = trip_at, zero_at = trip_zero_at;
    trip_rest();
    put("d0/f1", "other");
    put("d0/new", "x");
    unlinkat(root, "d1/f10", 0);
    if (symlinkat("d0", root, "link") != 0)
        ok(0, "edited");
    trip_at = at;
    trip_zero_at = zero_at;
}

/* What is there in the end is the tree, whether or not the first attempt failed. */
static int checkout_whole(struct ap_err *error)
{
    struct ap_worktree_done did;
    git_oid written;
    restore(&full);
    int result = ap_worktree_checkout(&did, tripped, &edited, NULL, 0, error);
    trip_rest();
    if (result != 0)
        return TRIP_REFUSED;
    return strcmp(changes(tripped), "") == 0 && ap_worktree_write_all(&written, tripped, &err) == 0 &&
                   memcmp(&written, &edited, sizeof written) == 0
               ? 0
               : 1;
}

static int write_whole(struct ap_err *error)
{
    git_oid written;
    restore(&full);
    edit();
    int result = ap_worktree_write_all(&written, tripped, error);
    trip_rest();
    return result != 0 ? TRIP_REFUSED : memcmp(&written, &edited, sizeof written) == 0 ? 0 : 1;
}

static int changes_whole(struct ap_err *error)
{
    static const char wanted[] = "d0/f1\0modified\000100644\0005\0\000100644\0\0d0/new\0added\000100644\0001\0\0\0\0"
                                 "d1/f10\0deleted\0\0000\0\000100644\0\0link\0added\000120000\0002\0d0\0\0";
    struct ap_buf out = {0};
    restore(&full);
    edit();
    int result = ap_worktree_changes(&out, tripped, false, error);
    trip_rest();
    bool whole = out.used == sizeof wanted && memcmp(out.bytes, wanted, sizeof wanted) == 0;
    ap_buf_dispose(&out);
    return result != 0 ? TRIP_REFUSED : whole ? 0 : 1;
}

static int watch_whole(struct ap_err *error)
{
    restore(&full);
    int result = ap_worktree_watch(tripped, error);
    trip_rest();
    if (result != 0)
        return TRIP_REFUSED;
    move("d1", "d9");
    move("d9", "d1");
    return touched(tripped) == 10 ? 0 : 1;
}

static void test_each_call(struct ap_worktree *worktree, const git_oid *tree)
{
    tripped = worktree;
    full = *tree;
    restore(&full);
    edit();
    ok(ap_worktree_write_all(&edited, worktree, &err) == 0, "an edited tree");
    int input = fcntl(0, F_DUPFD_CLOEXEC, 10);
    close(0); /* so that the first descriptor is 0, which is one like any other */
    trip_each("changes", changes_whole);
    trip_each("write_all", write_whole);
    trip_each("checkout", checkout_whole);
    trip_each_of("watch", watch_whole, false);
    dup2(input, 0);
    close(input);
    trip_interrupt("changes", changes_whole);
    trip_interrupt("write_all", write_whole);
    restore(&full);
}

int main(void)
{
    struct ap_worktree *worktree = NULL;
    char path[300], command[100];
    git_oid none;
    if (mkdtemp(dir) == NULL)
        return 1;
    git_repository *repo = open_objects();
    git_oid tree = many_files(repo, 50);
    int before = descriptors();
    snprintf(path, sizeof path, "%s/wt", dir);
    ok(ap_worktree_open(&worktree, repo, path, &err) == 0, "a worktree opens");
    ok(!ap_worktree_tree(&none, worktree) && strcmp(changes(worktree), "ESTATE") == 0,
        "nothing is checked out at first");
    root = open(path, O_DIRECTORY);
    ap_gitlib.repository_free(repo);
    test_cycle(worktree, &tree);
    test_hidden(worktree, &tree);
    test_hidden_below(worktree);
    test_touched(worktree, &tree);
    test_watch_zero(&tree);
    test_forbidden(&tree);
    test_times();
    test_hostile(worktree, &tree);
    test_stuck();
    test_moved(worktree, &tree);
    test_deep(worktree);
    test_large(worktree, &tree);
    believes = ap_dirtree_times_prove(root);
    test_each_call(worktree, &tree);
    test_racy(worktree, &tree);
    test_mapped(worktree, &tree);
    test_memory(&tree);
    close(root);
    ap_worktree_close(worktree);
    int after = descriptors();
    ok(after == before, "no descriptor is left: %d, then %d", before, after);
    snprintf(path, sizeof path, "%s/none/wt", dir);
    ok(ap_worktree_open(&worktree, repo, path, &err) != 0 && strcmp(err.code, "ENOENT") == 0,
        "a missing parent is reported");
    snprintf(command, sizeof command, "rm -rf %s", dir);
    ok(system(command) == 0, "the folder is gone");
    return done();
}
