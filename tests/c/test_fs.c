/* SPDX-License-Identifier: MIT */
/* test_fs: trees written by an enemy: links, FIFOs, modes that forbid, depth, and someone who writes while we remove.
 */
#define _GNU_SOURCE
#include "state/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "trip.h"

static char dir[] = "/tmp/apsis-test-fs-XXXXXX";

static const char *in_dir(const char *name)
{
    static char path[4][300];
    static int next;
    char *out = path[next++ % 4];
    snprintf(out, sizeof path[0], "%s/%s", dir, name);
    return out;
}

static void put(const char *path, const char *text)
{
    ok(ap_fs_write(path, text, strlen(text), false, NULL) == 0, "made %s", path + sizeof dir);
}

static int exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static int count_descriptors(void)
{
    int count = 0;
    DIR *open_dir = opendir("/proc/self/fd");
    while (readdir(open_dir) != NULL)
        count++;
    closedir(open_dir);
    return count;
}

static void test_read(void)
{
    struct ap_buf buf = {0};
    struct ap_err err;
    bool cut;
    put(in_dir("f"), "0123456789");
    ok(ap_fs_read(&buf, &cut, in_dir("f"), (size_t)-1, &err) == 0 && buf.used == 10 && !cut, "a file is read whole");
    ok(ap_fs_read(&buf, &cut, in_dir("f"), 4, &err) == 0 && buf.used == 14 && cut, "or in part, behind what is there");
    ok(memcmp(buf.bytes, "01234567890123", 14) == 0, "with the right bytes");
    mkfifo(in_dir("fifo"), 0600);
    ok(ap_fs_read(&buf, &cut, in_dir("fifo"), 4, &err) != 0 && strcmp(err.code, "EINVAL") == 0,
        "a FIFO does not block a reader");
    ok(ap_fs_write(in_dir("fifo"), "x", 1, false, &err) != 0 && strcmp(err.code, "ENXIO") == 0, "nor a writer");
    ap_buf_dispose(&buf);
    unlink(in_dir("fifo"));
    unlink(in_dir("f"));
}

/* As a user for whom modes matter: root would pass them all. */
static void remove_as_user(bool root)
{
    struct ap_err err;
    if (root && (setegid(65534) != 0 || seteuid(65534) != 0))
        _exit(3);
    if (mkdir(in_dir("open/tree"), 0700) != 0 || mkdir(in_dir("open/tree/read-only"), 0700) != 0 ||
        mkdir(in_dir("open/tree/closed"), 0700) != 0 || mkdir(in_dir("open/tree/closed/in"), 0700) != 0)
        _exit(4);
    ap_fs_write(in_dir("open/tree/read-only/f"), "x", 1, false, NULL);
    ap_fs_write(in_dir("open/tree/closed/in/f"), "x", 1, false, NULL);
    chmod(in_dir("open/tree/closed/in"), 0500);
    chmod(in_dir("open/tree/closed"), 0);
    chmod(in_dir("open/tree/read-only"), 0500);
    chmod(in_dir("open/tree"), 0500);
    if (ap_fs_remove_tree(in_dir("open/tree"), &err) != 0 || exists(in_dir("open/tree")))
        _exit(5);
    if (!root) /* otherwise nothing here belongs to someone else */
        _exit(0);
    _exit(ap_fs_remove_tree(in_dir("foreign"), &err) != 0 && exists(in_dir("foreign/f")) ? 0 : 6);
}

static void test_modes(void)
{
    int status = 0;
    chmod(dir, 0711);
    mkdir(in_dir("open"), 0777);
    chmod(in_dir("open"), 0777);
    mkdir(in_dir("foreign"), 0755);
    put(in_dir("foreign/f"), "x");
    bool root = geteuid() == 0;
    pid_t child = fork();
    if (child == 0)
        remove_as_user(root);
    waitpid(child, &status, 0);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 0,
        "folders whose mode forbids it are removed, those of others not (%d)", status);
    ap_fs_remove_tree(in_dir("open"), NULL);
    ap_fs_remove_tree(in_dir("foreign"), NULL);
}

static void test_remove(void)
{
    struct ap_err err;
    mkdir(in_dir("keep"), 0777);
    put(in_dir("keep/f"), "x");
    ap_fs_mkdir(in_dir("tree/a/b"), &err);
    put(in_dir("tree/a/b/f"), "x");
    ok(symlink("../keep", in_dir("tree/link")) == 0 && symlink("nowhere", in_dir("tree/a/broken")) == 0,
        "links are made");
    mkfifo(in_dir("tree/a/fifo"), 0600);
    ok(ap_fs_remove_tree(in_dir("tree"), &err) == 0 && !exists(in_dir("tree")), "a tree goes");
    ok(exists(in_dir("keep/f")), "what its links point to stays");
    ok(ap_fs_remove_tree(in_dir("tree"), &err) == 0, "nothing there is no error");
    ok(ap_fs_remove_tree(in_dir("keep/."), &err) != 0 && exists(in_dir("keep/f")),
        "a path that ends in . is refused untouched");
    ap_fs_remove_tree(in_dir("keep"), &err);
}

static void test_remove_racing(void)
{
    struct ap_err err;
    ap_fs_mkdir(in_dir("race/a/b/c"), &err);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0;; i = (i + 1) % 50) {
            char name[64];
            snprintf(name, sizeof name, "race/a/b/f%d", i);
            ap_fs_write(in_dir(name), "x", 1, false, NULL);
            ap_fs_mkdir(in_dir("race/a/b/d"), NULL);
        }
    }
    ap_fs_remove_tree(in_dir("race"), &err); /* may fail against such an enemy, but must end and leak nothing */
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    ok(ap_fs_remove_tree(in_dir("race"), &err) == 0 && !exists(in_dir("race")),
        "a tree that was being written goes in the end");
}

/* Somebody else removes a folder between the look at what is there and the next step. */
static void test_remove_together(void)
{
    struct ap_err err;
    static const char *const lost[] = {"b", "c"};
    for (int i = 0; i < 2; i++) {
        ap_fs_mkdir(in_dir("both/a/b"), &err);
        ap_fs_mkdir(in_dir("both/a/c"), &err);
        put(in_dir("both/a/f"), "x");
        trip_loses = lost[i];
        int result = ap_fs_remove_tree(in_dir("both"), &err);
        ok(result == 0 && trip_loses == NULL && !exists(in_dir("both")), "a tree goes though %s went before", lost[i]);
    }
}

static void test_copy(void)
{
    struct ap_fs_copied copied;
    struct ap_err err;
    ap_fs_mkdir(in_dir("from/a"), &err);
    put(in_dir("from/a/f"), "12345");
    ok(symlink("/etc/passwd", in_dir("from/link")) == 0 && mkfifo(in_dir("from/fifo"), 0600) == 0,
        "links and FIFOs are made");
    ok(ap_fs_copy_tree(&copied, in_dir("from"), in_dir("to"), -1, -1, &err) == 0 && copied.files == 1 &&
            copied.bytes == 5 && copied.skipped == 2,
        "only regular files are copied");
    ok(!exists(in_dir("to/link")) && !exists(in_dir("to/fifo")) && exists(in_dir("to/a/f")),
        "and nothing else is made");
    ap_fs_remove_tree(in_dir("to/a"), &err);
    put(in_dir("victim"), "safe");
    mkdir(in_dir("to/a"), 0777);
    ok(symlink("../../victim", in_dir("to/a/f")) == 0, "a link stands where a file is to be copied");
    ok(ap_fs_copy_tree(&copied, in_dir("from"), in_dir("to"), -1, -1, &err) != 0 && strcmp(err.code, "ELOOP") == 0,
        "it is not written through: %s", err.code);
    FILE *victim = fopen(in_dir("victim"), "r");
    char text[8] = "";
    ok(fgets(text, sizeof text, victim) != NULL && strcmp(text, "safe") == 0, "what it points to is as it was");
    fclose(victim);
    ok(truncate(in_dir("from/a/f"), 1LL << 40) == 0, "a sparse file of a terabyte is made");
    ok(ap_fs_copy_tree(&copied, in_dir("from"), in_dir("to2"), 1000, -1, &err) == 0 && copied.files == 0 &&
            copied.skipped == 3,
        "and is not copied beyond the limit");
    ap_fs_remove_tree(in_dir("from"), &err);
    ap_fs_remove_tree(in_dir("to"), &err);
    ap_fs_remove_tree(in_dir("to2"), &err);
    unlink(in_dir("victim"));
}

/* `count` folders, each in the one before it. */
static const char *nested(const char *top, int count)
{
    static char path[400];
    size_t size = (size_t)snprintf(path, sizeof path, "%s", in_dir(top));
    for (int i = 0; i < count; i++)
        size += (size_t)snprintf(path + size, sizeof path - size, "/d");
    return path;
}

static void test_copy_depth(void)
{
    struct ap_fs_copied copied;
    struct ap_err err;
    ok(ap_fs_mkdir(nested("deep", 66), &err) == 0, "66 folders, one in the other");
    ok(ap_fs_copy_tree(&copied, in_dir("deep"), in_dir("to"), -1, -1, &err) == 0 && copied.files == 0 &&
            copied.skipped == 1,
        "a copy skips what is too deep");
    ok(exists(nested("to", 64)) && !exists(nested("to", 65)), "which is all but 64 of them");
    ap_fs_remove_tree(in_dir("deep"), &err);
    ap_fs_remove_tree(in_dir("to"), &err);
}

static struct ap_fs_copied copied;

/* The actions that trip_each repeats. Each makes what it needs, and says whether its result is whole. */
static int read_whole(struct ap_err *err)
{
    bool cut;
    struct ap_buf buf = {0};
    int result = ap_fs_read(&buf, &cut, in_dir("trip/a/f"), (size_t)-1, err);
    bool whole = buf.used == 5 && memcmp(buf.bytes, "12345", 5) == 0 && !cut;
    ap_buf_dispose(&buf);
    return result != 0 ? result : whole ? 0 : 1;
}

static int write_whole(struct ap_err *err)
{
    return ap_fs_write(in_dir("trip/w"), "12345", 5, false, err);
}

static int copy_whole(struct ap_err *err)
{
    struct stat st;
    bool reads = trip_at == 0; /* else what cannot be read is left out */
    int result = ap_fs_copy_tree(&copied, in_dir("trip"), in_dir("trip-copy"), -1, -1, err);
    bool whole =
        exists(in_dir("trip-copy/a/f")) && exists(in_dir("trip-copy/b/c/f")) && copied.files + copied.skipped >= 3;
    int left_out = copied.skipped;
    trip_rest();
    whole = whole && (!reads || (stat(in_dir("trip-copy/a/f"), &st) == 0 && st.st_size == 5));
    ap_fs_remove_tree(in_dir("trip-copy"), NULL);
    return result != 0 ? result : left_out > 0 ? TRIP_REFUSED : whole ? 0 : 1;
}

static int remove_whole(struct ap_err *err)
{
    int at = trip_at, zero_at = trip_zero_at;
    trip_rest();
    ap_fs_mkdir(in_dir("trip-gone/a/b"), NULL);
    ap_fs_mkdir(in_dir("trip-gone/c"), NULL);
    ap_fs_write(in_dir("trip-gone/a/f"), "x", 1, false, NULL);
    ap_fs_write(in_dir("trip-gone/a/b/f"), "x", 1, false, NULL);
    trip_at = at;
    trip_zero_at = zero_at;
    int result = ap_fs_remove_tree(in_dir("trip-gone"), err);
    return result != 0 ? result : exists(in_dir("trip-gone")) ? 1 : 0;
}

/* Folders that forbid their owner to list, to enter or to change them: 0, or which step went wrong. */
static int remove_forbidden(void)
{
    static const mode_t modes[] = {0, 0100, 0200, 0300, 0400, 0500, 0600, 0700};
    struct ap_err err;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (ap_fs_mkdir(in_dir("open/own/a/b"), &err) != 0 ||
            ap_fs_write(in_dir("open/own/f"), "x", 1, false, &err) != 0 ||
            ap_fs_write(in_dir("open/own/a/f"), "x", 1, false, &err) != 0)
            return 1;
        if (chmod(in_dir("open/own/a/b"), modes[i]) != 0 || chmod(in_dir("open/own/a"), modes[i]) != 0 ||
            chmod(in_dir("open/own"), modes[i]) != 0)
            return 2;
        if (ap_fs_remove_tree(in_dir("open/own"), &err) != 0 || exists(in_dir("open/own")))
            return 3 + (int)i;
    }
    if (exists(in_dir("open/theirs")) &&
        (ap_fs_remove_tree(in_dir("open/theirs"), &err) == 0 || strcmp(err.code, "EACCES") != 0))
        return 20;
    return 0;
}

static void test_forbidden(void)
{
    ok(chmod(dir, 0755) == 0 && ap_fs_mkdir(in_dir("open"), NULL) == 0 && chmod(in_dir("open"), 0777) == 0,
        "a folder for everybody");
    if (geteuid() == 0) {
        ap_fs_mkdir(in_dir("open/theirs/a"), NULL);
        chmod(in_dir("open/theirs"), 0700);
    }
    int result = trip_as_nobody(remove_forbidden);
    ok(result == 0, "folders whose modes forbid it are removed, those of others are not: %d", result);
    ok(ap_fs_remove_tree(in_dir("open"), NULL) == 0, "removed");
}

static void test_each_call(void)
{
    ap_fs_mkdir(in_dir("trip/a"), NULL);
    ap_fs_mkdir(in_dir("trip/b/c"), NULL);
    put(in_dir("trip/a/f"), "12345");
    put(in_dir("trip/b/c/f"), "1");
    trip_each("read", read_whole);
    trip_interrupt("read", read_whole);
    trip_each("write", write_whole);
    trip_each("copy_tree", copy_whole);
    trip_interrupt("copy_tree", copy_whole);
    trip_each("remove_tree", remove_whole);
    ap_fs_remove_tree(in_dir("trip"), NULL);
    ap_fs_remove_tree(in_dir("trip-gone"), NULL);
}

int main(void)
{
    if (mkdtemp(dir) == NULL)
        return 1;
    close(0); /* so that the first descriptor is 0, which is one like any other */
    int before = count_descriptors();
    test_read();
    test_modes();
    test_remove();
    test_remove_racing();
    test_remove_together();
    test_copy();
    test_copy_depth();
    test_forbidden();
    test_each_call();
    ok(count_descriptors() == before, "no descriptor is left open");
    ok(rmdir(dir) == 0, "nor a file");
    return done();
}
