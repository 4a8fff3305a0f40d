/* SPDX-License-Identifier: MIT */
/* test_state: locks against other processes and kill -9; the journal against torn tails, full disks and failing syncs.
 */
#define _GNU_SOURCE
#include "state/state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRIP_WITHOUT_WRITE
#include "tap.h"
#include "trip.h"

static char dir[] = "/tmp/apsis-test-state-XXXXXX";
static int fail_sync, fail_write, fail_close, file_syncs, folder_syncs; /* fail_sync: the errno */
static bool fail_folders_only;                                          /* then fail_sync fails no file */
static int link_made; /* link: how many names its result is about: 0: it works; 1: it fails; 2: it fails, but is made */
static long long interrupted = -1, at_most = -1; /* writev: how often it fails with EINTR; the most bytes it writes */
static const char *lose, *replace_by;            /* files that vanish, or are replaced, as soon as they are locked */

/* These override libc's: a failing disk is rare otherwise. */
int fdatasync(int fd)
{
    if (fail_sync) {
        errno = fail_sync;
        return -1;
    }
    return (int)syscall(SYS_fdatasync, fd);
}

int fsync(int fd)
{
    struct stat st = {0};
    if (fstat(fd, &st) == 0)
        ++*(S_ISREG(st.st_mode) ? &file_syncs : &folder_syncs);
    if (fail_sync && (!fail_folders_only || S_ISDIR(st.st_mode))) {
        errno = fail_sync;
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    if (fail_write && fd != 1 && fd != 2) {
        errno = ENOSPC;
        return -1;
    }
    return syscall(SYS_write, fd, bytes, count);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    if (interrupted-- > 0) {
        errno = EINTR;
        return -1;
    }
    return at_most < 0 ? syscall(SYS_writev, fd, parts, count) : syscall(SYS_write, fd, parts[0].iov_base, at_most);
}

int close(int fd)
{
    int result = (int)syscall(SYS_close, fd);
    if (fail_close)
        errno = EIO;
    return fail_close ? -1 : result;
}

int link(const char *from, const char *to)
{
    int result = link_made == 1 ? -1 : (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (link_made != 0)
        errno = ETIMEDOUT;
    return link_made == 0 ? result : -1;
}

int flock(int fd, int how)
{
    int result = (int)syscall(SYS_flock, fd, how);
    if (lose != NULL && replace_by != NULL)
        rename(replace_by, lose);
    else if (lose != NULL)
        unlink(lose);
    lose = replace_by = NULL;
    return result;
}

static const char *in_dir(const char *name)
{
    static char path[16][200];
    static int next;
    char *out = path[next++ % 16];
    snprintf(out, sizeof path[0], "%s/%s", dir, name);
    return out;
}

static void put(const char *path, const char *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    fwrite(bytes, 1, count, file);
    fclose(file);
}

/* Whether the file at path contains exactly this. */
static int holds(const char *path, const char *bytes, size_t count)
{
    char found[16384];
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return 0;
    size_t n = fread(found, 1, sizeof found, file);
    fclose(file);
    return n == count && memcmp(found, bytes, count) == 0;
}

static int count_entries(const char *path)
{
    int count = 0;
    DIR *open_dir = opendir(path);
    while (readdir(open_dir) != NULL)
        count++;
    closedir(open_dir);
    return count;
}

/* Process 1 takes the lock, and starts process 2, which holds it on and ends once it reads a byte or `hold` is closed. */
static pid_t lock_and_die(const int hold[2])
{
    int fd;
    struct ap_err err;
    char byte;
    pid_t child = fork();
    if (child == 0) {
        if (ap_state_lock_open(&fd, in_dir("lock"), &err) == 0 && fork() == 0) {
            close(hold[1]);
            (void)!read(hold[0], &byte, 1);
        }
        _exit(0);
    }
    waitpid(child, NULL, 0);
    return child;
}

static void test_lock_left_over(void)
{
    struct ap_err err;
    int fd, hold[2];
    char expected[64];
    if (pipe(hold) != 0)
        return;
    pid_t gone = lock_and_die(hold);
    snprintf(expected, sizeof expected, "held by pid %ld since 2", (long)gone);
    ok(ap_state_lock_open(&fd, in_dir("lock"), &err) != 0 && strncmp(err.message, expected, strlen(expected)) == 0,
        "what a killed holder was starting is not waited for without end: %s", err.message);
    pid_t releaser = fork();
    if (releaser == 0) {
        nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
        (void)!write(hold[1], "x", 1);
        _exit(0);
    }
    ok(ap_state_lock_open(&fd, in_dir("lock"), &err) == 0, "but for a moment, until it has given up the lock");
    ap_state_lock_close(fd);
    waitpid(releaser, NULL, 0);
    close(hold[0]);
    close(hold[1]);
}

static void test_lock(void)
{
    struct ap_err err;
    int fd, other, ready[2];
    char expected[64];
    ok(ap_state_lock_open(&fd, in_dir("lock"), &err) == 0, "a lock is taken");
    ok(ap_state_lock_open(&other, in_dir("lock"), &err) != 0 && strcmp(err.code, "LOCKED") == 0, "and not twice");
    snprintf(expected, sizeof expected, "held by pid %ld since 2", (long)getpid());
    ok(strncmp(err.message, expected, strlen(expected)) == 0, "the refused learns who holds it: %s", err.message);
    const char *end = strstr(err.message, "Z (/tmp/");
    ok(end != NULL && end - strchr(err.message, '2') >= 19 && strchr(err.message, '\n') == NULL,
        "since when, and where");
    char long_line[300] = "1 ", shown[200];
    memset(long_line + 2, 'y', sizeof long_line - 2);
    put(in_dir("lock"), long_line, sizeof long_line);
    snprintf(shown, sizeof shown, "held by pid 1 since %.125s (/", long_line + 2);
    ok(ap_state_lock_open(&other, in_dir("lock"), &err) != 0 && strncmp(err.message, shown, strlen(shown)) == 0,
        "what stands in the file is cut");
    put(in_dir("lock"), "", 0);
    ok(ap_state_lock_open(&other, in_dir("lock"), &err) != 0 &&
            strncmp(err.message, "held by another process (/", 26) == 0,
        "who has not written its name yet is another process: %s", err.message);
    ap_state_lock_close(fd);
    put(in_dir("lock"), long_line, sizeof long_line);
    ap_state_lock_open(&fd, in_dir("lock"), &err);
    struct stat st;
    ok(stat(in_dir("lock"), &st) == 0 && st.st_size < 40, "what a killed holder left is gone");
    ap_state_lock_close(fd);
    ok(holds(in_dir("lock"), "", 0), "and so is the holder's own name when it ends");
    for (int replaced = 0; replaced <= 1; replaced++) {
        put(in_dir("other"), "", 0);
        lose = in_dir("lock");
        replace_by = replaced ? in_dir("other") : NULL;
        ok(ap_state_lock_open(&fd, in_dir("lock"), &err) == 0 && fstat(fd, &st) == 0 && st.st_nlink == 1,
            "a lock on a file that was %s meanwhile is taken again", replaced ? "replaced" : "removed");
        ok(ap_state_lock_open(&other, in_dir("lock"), &err) != 0, "and excludes others");
        ap_state_lock_close(fd);
    }
    unlink(in_dir("other"));
    ok(ap_state_lock_open(&fd, in_dir("lock"), &err) == 0, "a closed lock is free");
    ap_state_lock_close(fd);

    if (pipe(ready) != 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        if (ap_state_lock_open(&fd, in_dir("lock"), &err) == 0 && write(ready[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    char byte;
    ok(read(ready[0], &byte, 1) == 1, "another process has the lock");
    ok(ap_state_lock_open(&other, in_dir("lock"), &err) != 0 && strcmp(err.code, "LOCKED") == 0, "we do not");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    ok(ap_state_lock_open(&other, in_dir("lock"), &err) == 0, "after kill -9 the lock is free");
    unlink(in_dir("lock"));
    ok(ap_state_lock_open(&fd, in_dir("lock"), &err) == 0, "a removed lock file is created again");
    ap_state_lock_close(fd);
    ap_state_lock_close(other);
    close(ready[0]);
    close(ready[1]);
    ok(ap_state_lock_open(&fd, in_dir("none/lock"), &err) != 0 && strcmp(err.code, "ENOENT") == 0,
        "no folder, no lock");
}

static void test_torn(void)
{
    static const struct {
        const char *name, *bytes;
        size_t count, kept;
    } cases[] = {
        {"empty", "", 0, 0},
        {"whole", "a\nb\n", 4, 4},
        {"a single newline", "\n", 1, 1},
        {"torn line after a single newline", "\nb", 2, 1},
        {"torn last line", "a\nb", 3, 2},
        {"torn first line", "abc", 3, 0},
        {"trailing NUL bytes", "a\n\0\0\0", 5, 2},
        {"torn line, then NUL bytes", "a\nb\0\0", 5, 2},
        {"only NUL bytes", "\0\0\0", 3, 0},
    };
    struct ap_state_journal journal;
    struct ap_state_torn torn;
    struct ap_err err;
    const char *path = in_dir("torn");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put(path, cases[i].bytes, cases[i].count);
        int opened = ap_state_journal_open(&journal, &torn, path, &err) == 0;
        ok(opened && torn.cut_bytes == (long long)(cases[i].count - cases[i].kept) &&
                torn.text_length == cases[i].count - cases[i].kept &&
                memcmp(torn.text, cases[i].bytes + cases[i].kept, torn.text_length) == 0,
            "%s: what is cut is reported", cases[i].name);
        ok(holds(path, cases[i].bytes, cases[i].kept), "%s: whole lines stay", cases[i].name);
        ap_state_journal_close(&journal);
    }
    put(path, "a\nb", 3);
    file_syncs = 0;
    ok(ap_state_journal_open(&journal, &torn, path, &err) == 0 && file_syncs == 1,
        "the cut is on the disk before more");
    ap_state_journal_close(&journal);
    file_syncs = 0;
    ok(ap_state_journal_open(&journal, &torn, path, &err) == 0 && file_syncs == 0, "a whole journal needs no sync");
    ap_state_journal_close(&journal);
    put(path, "a\nb", 3);
    fail_sync = EIO;
    ok(ap_state_journal_open(&journal, &torn, path, &err) != 0 && strcmp(err.code, "EIO") == 0,
        "a cut that cannot be synced is an error");
    fail_sync = 0;
    size_t big = 300000;
    char *bytes = malloc(big);
    memset(bytes, 'x', big);
    memcpy(bytes, "first\n", 6);
    put(path, bytes, big);
    ok(ap_state_journal_open(&journal, &torn, path, &err) == 0 && torn.cut_bytes == (long long)big - 6 &&
            torn.text_length == 200 && holds(path, "first\n", 6),
        "a torn line longer than the reader's chunk is cut whole");
    ap_state_journal_close(&journal);
    free(bytes);
}

/* What the system writes only in part, or not at once, is written all the same. */
static void test_short_writes(void)
{
    struct ap_state_journal journal;
    struct ap_state_torn torn;
    struct ap_err err;
    const char *path = in_dir("short");
    for (at_most = 0; at_most <= 3; at_most++) {
        long long size = -1;
        unlink(path);
        ok(ap_state_journal_open(&journal, &torn, path, &err) == 0 &&
                ap_state_journal_append(&journal, "one", 3, &err) == 0 &&
                ap_state_journal_append(&journal, "two", 3, &err) == 0 && holds(path, "one\ntwo\n", 8) &&
                ap_state_journal_size(&size, &journal, &err) == 0 && size == 8,
            "lines are whole though %lld bytes are written at first", at_most);
        ap_state_journal_close(&journal);
    }
    at_most = -1;
    interrupted = 2;
    ok(ap_state_journal_open(&journal, &torn, path, &err) == 0 &&
            ap_state_journal_append(&journal, "x", 1, &err) == 0 && holds(path, "one\ntwo\nx\n", 10),
        "or the first two writes are interrupted");
    ap_state_journal_close(&journal);
}

static void test_append(void)
{
    struct ap_state_journal journal;
    struct ap_state_torn torn;
    struct ap_err err;
    struct rlimit unlimited, limit;
    long long size = -1;
    const char *path = in_dir("journal");
    ok(ap_state_journal_open(&journal, &torn, path, &err) == 0 && torn.cut_bytes == 0, "a journal is created");
    ok(ap_state_journal_append(&journal, "one", 3, &err) == 0 && ap_state_journal_append(&journal, "", 0, &err) == 0,
        "lines are appended");
    ok(holds(path, "one\n\n", 5) && ap_state_journal_size(&size, &journal, &err) == 0 && size == 5, "and are there");

    ap_state_journal_close(&journal);
    test_short_writes();
    ap_state_journal_open(&journal, &torn, path, &err);

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &unlimited);
    limit = (struct rlimit){.rlim_cur = 8, .rlim_max = unlimited.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    int failed = ap_state_journal_append(&journal, "longer than the limit", 21, &err);
    setrlimit(RLIMIT_FSIZE, &unlimited);
    ok(failed && strcmp(err.code, "EFBIG") == 0, "a short write fails with its reason: %s", err.code);
    ok(holds(path, "one\n\n", 5), "and leaves nothing of the line");
    ok(ap_state_journal_append(&journal, "two", 3, &err) == 0 && holds(path, "one\n\ntwo\n", 9),
        "the next line may be appended");

    limit.rlim_cur = 11;
    setrlimit(RLIMIT_FSIZE, &limit);
    fail_write = 1;
    failed = ap_state_journal_append(&journal, "three", 5, &err);
    fail_write = 0;
    setrlimit(RLIMIT_FSIZE, &unlimited);
    ok(failed && strcmp(err.code, "ENOSPC") == 0 && holds(path, "one\n\ntwo\n", 9),
        "a full disk leaves nothing of the line");

    fail_sync = EIO;
    ok(ap_state_journal_append(&journal, "lost", 4, &err) != 0 && strcmp(err.code, "EIO") == 0,
        "a failed sync is an error");
    fail_sync = 0;
    ok(holds(path, "one\n\ntwo\n", 9), "its line is taken back");
    ok(ap_state_journal_append(&journal, "after", 5, &err) != 0 && strcmp(err.code, "EIO") == 0 &&
            holds(path, "one\n\ntwo\n", 9),
        "and no line follows it");
    ap_state_journal_close(&journal);
    ok(ap_state_journal_open(&journal, &torn, path, &err) == 0 &&
            ap_state_journal_append(&journal, "3", 1, &err) == 0 && holds(path, "one\n\ntwo\n3\n", 11),
        "opened again it goes on");
    ap_state_journal_close(&journal);
    ok(ap_state_journal_open(&journal, &torn, dir, &err) != 0 && strcmp(err.code, "EISDIR") == 0,
        "a folder is no journal");
    ok(ap_state_journal_open(&journal, &torn, "/dev/null", &err) != 0 && strcmp(err.code, "EINVAL") == 0,
        "nor a device");
}

/* Appends until it is killed; the rest must be whole lines, in order, with at most one torn. */
/* A journal with one line of 9,000 bytes, which is more than is copied at once. */
static struct ap_state_journal of_others(void)
{
    static char line[9000];
    struct ap_state_journal journal;
    struct ap_state_torn torn;
    memset(line, 'x', sizeof line);
    unlink(in_dir("others"));
    ok(ap_state_journal_open(&journal, &torn, in_dir("others"), NULL) == 0 &&
            ap_state_journal_append(&journal, line, sizeof line, NULL) == 0,
        "a journal with a long line");
    return journal;
}

static int holds_long_line(const char *path)
{
    static char line[9001];
    memset(line, 'x', sizeof line);
    line[9000] = '\n';
    return holds(path, line, sizeof line);
}

/* `rm -rf logs`, `git clean -fdx`. */
static void test_folder_gone(void)
{
    struct ap_state_torn torn;
    struct ap_err err = {0};
    struct ap_state_journal journal;
    const char *path = in_dir("logs/j"), *kept = in_dir("logs/j.kept");
    mkdir(in_dir("logs"), 0755);
    ok(ap_state_journal_open(&journal, &torn, path, NULL) == 0 &&
            ap_state_journal_append(&journal, "a", 1, NULL) == 0 && ap_state_journal_check(&journal, NULL) == 0,
        "a journal in a folder");
    unlink(path);
    rmdir(in_dir("logs"));
    ok(ap_state_journal_check(&journal, &err) != 0 && strcmp(err.code, "EOTHER") == 0 && holds(kept, "a\n", 2),
        "whose lines are saved if the folder is gone, too: %s", err.message);
    ap_state_journal_close(&journal);
    unlink(kept);
    rmdir(in_dir("logs"));
}

/* What other programs do to the file of an open journal. */
static void test_others(void)
{
    struct ap_state_torn torn;
    struct ap_err err = {0};
    const char *path = in_dir("others"), *kept = in_dir("others.kept");
    struct ap_state_journal journal = of_others();
    truncate(path, 9000);
    ok(ap_state_journal_append(&journal, "a", 1, &err) != 0 && strcmp(err.code, "EOTHER") == 0 &&
            strstr(err.message, "another program has changed it") != NULL && access(kept, F_OK) != 0,
        "no line is appended to a journal that another program has changed: %s", err.message);
    ap_state_journal_close(&journal);
    ap_state_journal_close(&journal);
    ok(journal.fd == -1 && journal.path == NULL, "closing it twice is closing it once");
    journal = of_others();
    unlink(path);
    file_syncs = 0;
    ok(ap_state_journal_append(&journal, "a", 1, &err) != 0 && strcmp(err.code, "EOTHER") == 0 &&
            strstr(err.message, "has removed it; the lines that were in it are in") != NULL && holds_long_line(kept) &&
            file_syncs == 1,
        "the lines of one that was removed are saved, and synced: %s", err.message);
    ok(ap_state_journal_append(&journal, "a", 1, &err) != 0 && strcmp(err.code, "EIO") == 0 && access(path, F_OK) != 0,
        "and it takes no more");
    ap_state_journal_close(&journal);
    unlink(kept);
    journal = of_others();
    put(in_dir("new"), "other\n", 6);
    rename(in_dir("new"), path);
    mkdir(kept, 0755);
    ok(ap_state_journal_append(&journal, "a", 1, &err) != 0 &&
            strstr(err.message, "has replaced it; the lines that were in it could not be saved to") != NULL &&
            holds(path, "other\n", 6),
        "nor one that was replaced: %s", err.message);
    ap_state_journal_close(&journal);
    rmdir(kept);
    unlink(path);
    test_folder_gone();
    ok(ap_state_journal_open(&journal, &torn, "/etc", &err) != 0 && strcmp(err.code, "EISDIR") == 0,
        "a folder in the root is no journal");
}

/* The folders of a new name are synced: its own, and the one above, as its own may be new too. */
static void test_folders(void)
{
    static const struct {
        const char *path;
        int syncs;
    } cases[] = {{"folders", 1}, {"./folders", 1}, {"../folders/folders", 2}};
    struct ap_state_journal journal;
    struct ap_state_torn torn;
    struct ap_err err = {0};
    char before[300];
    ok(getcwd(before, sizeof before) != NULL && mkdir(in_dir("folders"), 0755) == 0 && chdir(in_dir("folders")) == 0,
        "in a folder");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        folder_syncs = 0;
        ok(ap_state_journal_open(&journal, &torn, cases[i].path, &err) == 0 && folder_syncs == cases[i].syncs,
            "%s: %d folders are synced", cases[i].path, folder_syncs);
        ap_state_journal_close(&journal);
        unlink("folders");
    }
    static const int codes[] = {EINVAL, ENOTSUP, EIO};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        fail_sync = codes[i];
        int result = ap_state_journal_open(&journal, &torn, "folders", &err);
        fail_sync = 0;
        ok(result == (codes[i] == EIO ? -1 : 0), "a folder whose sync fails (%s)", strerror(codes[i]));
        if (result == 0)
            ap_state_journal_close(&journal);
        unlink("folders");
    }
    ok(chdir(before) == 0 && rmdir(in_dir("folders")) == 0, "back");
}

/* Over NFS a name may have been made though link fails. */
static void test_publish(void)
{
    struct ap_err err = {0};
    const char *path = in_dir("published");
    int entries = count_entries(dir);
    ok(ap_state_publish(path, "one", 3, &err) == 0 && holds(path, "one", 3), "a file is published");
    ok(ap_state_publish(path, "two", 3, &err) != 0 && strcmp(err.code, "EEXIST") == 0 && holds(path, "one", 3), "once");
    unlink(path);
    link_made = 1;
    ok(ap_state_publish(path, "one", 3, &err) != 0 && strcmp(err.code, "ETIMEDOUT") == 0 && access(path, F_OK) != 0,
        "a name that cannot be made is an error: %s", err.message);
    link_made = 2;
    ok(ap_state_publish(path, "one", 3, &err) == 0 && holds(path, "one", 3), "but not one that was made all the same");
    link_made = 0;
    unlink(path);
    fail_sync = EIO;
    fail_folders_only = true;
    ok(ap_state_publish(path, "one", 3, &err) != 0 && strcmp(err.code, "EIO") == 0 && access(path, F_OK) != 0,
        "nor is one there that may be lost: %s", err.message);
    fail_sync = 0;
    fail_folders_only = false;
    ok(ap_state_publish(path, "one", 3, &err) == 0, "it can be published again");
    ok(count_entries(dir) == entries + 1 && unlink(path) == 0, "nothing else is left");
}

static void test_killed(void)
{
    struct ap_state_journal journal;
    struct ap_state_torn torn;
    struct ap_state_lines lines;
    struct ap_state_line line;
    struct ap_err err;
    int started[2];
    const char *path = in_dir("killed");
    if (pipe(started) != 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        char text[64];
        ap_state_journal_open(&journal, &torn, path, &err);
        for (int i = 1;; i++) {
            int length = snprintf(text, sizeof text, "line %d", i);
            ap_state_journal_append(&journal, text, (size_t)length, &err);
            if (i == 20 && write(started[1], "x", 1) != 1)
                _exit(1);
        }
    }
    char byte;
    int ready = read(started[0], &byte, 1) == 1;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(started[0]);
    close(started[1]);
    ok(ready && ap_state_journal_open(&journal, &torn, path, &err) == 0, "a journal whose writer was killed opens");
    ap_state_journal_close(&journal);
    ap_state_lines_open(&lines, path, 0, 1, &err);
    int in_order = 1;
    long long count = 0;
    while (ap_state_lines_next(&line, &lines, &err) > 0) {
        char expected[64];
        int length = snprintf(expected, sizeof expected, "line %lld", ++count);
        in_order &= line.length == (size_t)length && memcmp(line.bytes, expected, line.length) == 0;
    }
    ap_state_lines_close(&lines);
    ok(in_order && count >= 20, "and holds every line that was promised, in order");
}

static void test_lines(void)
{
    struct ap_state_lines lines;
    struct ap_state_line line;
    struct ap_err err;
    const char *path = in_dir("lines");
    put(path, "one\n\nthr\0ee\ntorn", 16);
    ok(ap_state_lines_open(&lines, path, 0, 1, &err) == 0, "a file is opened for reading");
    ok(ap_state_lines_next(&line, &lines, &err) == 1 && line.length == 3 && line.number == 1 && line.offset == 0,
        "line 1");
    ok(ap_state_lines_next(&line, &lines, &err) == 1 && line.length == 0 && line.number == 2 && line.offset == 4,
        "line 2");
    ok(ap_state_lines_next(&line, &lines, &err) == 1 && line.length == 6 && line.number == 3 && line.offset == 5 &&
            memcmp(line.bytes, "thr\0ee", 6) == 0,
        "line 3, with its NUL");
    ok(ap_state_lines_next(&line, &lines, &err) == 0, "a torn last line is not given");
    FILE *file = fopen(path, "ab");
    fputs(" no more\n", file);
    fclose(file);
    ok(ap_state_lines_next(&line, &lines, &err) == 1 && line.length == 12 && line.number == 4, "until it is whole");
    ap_state_lines_close(&lines);

    size_t big = 1000000;
    char *bytes = malloc(big);
    memset(bytes, 'x', big);
    bytes[big - 4] = '\n';
    bytes[big - 1] = '\n';
    put(path, bytes, big);
    ap_state_lines_open(&lines, path, 0, 1, &err);
    ok(ap_state_lines_next(&line, &lines, &err) == 1 && line.length == big - 4, "a line may be longer than the chunk");
    ok(ap_state_lines_next(&line, &lines, &err) == 1 && line.length == 2 && line.offset == (long long)big - 3,
        "and the next follows");
    ap_state_lines_close(&lines);
    free(bytes);
    ok(ap_state_lines_open(&lines, in_dir("none"), 0, 1, &err) != 0 && strcmp(err.code, "ENOENT") == 0,
        "no file, no lines");
    ok(ap_state_lines_open(&lines, dir, 0, 1, &err) != 0 && strcmp(err.code, "EISDIR") == 0, "nor of a folder");
    char unreadable[40];
    snprintf(unreadable, sizeof unreadable, "/proc/%d/mem", (int)getpid());
    ok(ap_state_lines_open(&lines, unreadable, 0, 1, &err) == 0 && ap_state_lines_next(&line, &lines, &err) < 0 &&
            strcmp(err.code, "EIO") == 0,
        "what cannot be read has its reason");
    ap_state_lines_close(&lines);
}

static void test_replace(void)
{
    struct ap_err err;
    const char *path = in_dir("replaced");
    ok(ap_state_replace(path, "old", 3, false, &err) == 0 && holds(path, "old", 3), "a new file is made");
    int before = count_entries(dir);
    ok(ap_state_replace(path, "new\0er", 6, true, &err) == 0 && holds(path, "new\0er", 6), "and replaced, synced");
    fail_write = 1;
    int failed = ap_state_replace(path, "lost", 4, true, &err);
    fail_write = 0;
    ok(failed && strcmp(err.code, "ENOSPC") == 0 && holds(path, "new\0er", 6), "on a full disk the old content stays");
    fail_close = 1;
    failed = ap_state_replace(path, "lost", 4, true, &err);
    fail_close = 0;
    ok(failed && strcmp(err.code, "EIO") == 0 && holds(path, "new\0er", 6),
        "and so it does if the new cannot be closed");
    mkdir(in_dir("folder"), 0777);
    ok(ap_state_replace(in_dir("folder"), "x", 1, false, &err) != 0 && strcmp(err.code, "EISDIR") == 0,
        "a folder is not replaced");
    rmdir(in_dir("folder"));
    ok(count_entries(dir) == before, "no failure leaves a temporary file");
    ok(ap_state_replace(in_dir("none/x"), "x", 1, false, &err) != 0 && strcmp(err.code, "ENOENT") == 0,
        "no folder, no file");
}

static int lock_whole(struct ap_err *err)
{
    int fd;
    if (ap_state_lock_open(&fd, in_dir("trip"), err) != 0)
        return -1;
    ap_state_lock_close(fd);
    return 0;
}

static int journal_whole(struct ap_err *err)
{
    struct ap_state_journal journal;
    struct ap_state_torn torn;
    long long size;
    int at = trip_at, zero_at = trip_zero_at;
    trip_rest();
    put(in_dir("trip"), "one\ntorn", 8);
    trip_at = at;
    trip_zero_at = zero_at;
    if (ap_state_journal_open(&journal, &torn, in_dir("trip"), err) != 0)
        return -1;
    int result = ap_state_journal_append(&journal, "two", 3, err);
    if (result == 0)
        result = ap_state_journal_size(&size, &journal, err);
    ap_state_journal_close(&journal);
    trip_rest();
    return result != 0 ? -1 : holds(in_dir("trip"), "one\ntwo\n", 8) && size == 8 && torn.cut_bytes == 4 ? 0 : 1;
}

static int new_journal_whole(struct ap_err *err)
{
    struct ap_state_journal journal;
    struct ap_state_torn torn;
    unlink(in_dir("trip"));
    if (ap_state_journal_open(&journal, &torn, in_dir("trip"), err) != 0)
        return -1;
    ap_state_journal_close(&journal);
    return 0;
}

static int lines_whole(struct ap_err *err)
{
    struct ap_state_lines lines;
    struct ap_state_line line;
    int result, count = 0;
    if (ap_state_lines_open(&lines, in_dir("lines"), 0, 1, err) != 0)
        return -1;
    while ((result = ap_state_lines_next(&line, &lines, err)) > 0)
        count++;
    ap_state_lines_close(&lines);
    return result < 0 ? -1 : count == 2 ? 0 : 1;
}

static int replace_whole(struct ap_err *err)
{
    if (ap_state_replace(in_dir("trip"), "new", 3, true, err) != 0)
        return -1;
    trip_rest();
    return holds(in_dir("trip"), "new", 3) ? 0 : 1;
}

static void test_each_call(void)
{
    trip_each("lock", lock_whole);
    trip_each("journal", journal_whole);
    trip_each("a new journal", new_journal_whole);
    trip_each("lines", lines_whole);
    trip_interrupt("lines", lines_whole);
    trip_each("replace", replace_whole);
    unlink(in_dir("trip"));
}

int main(void)
{
    if (mkdtemp(dir) == NULL)
        return 1;
    close(0); /* so that the first descriptor is 0, which is one like any other */
    int before = count_entries("/proc/self/fd");
    test_lock();
    test_lock_left_over();
    test_torn();
    test_append();
    test_others();
    test_folders();
    test_publish();
    test_killed();
    test_lines();
    test_replace();
    test_each_call();
    ok(count_entries("/proc/self/fd") == before, "no descriptor is left open");
    static const char *const made[] = {"lock", "torn", "journal", "short", "killed", "lines", "replaced"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        unlink(in_dir(made[i]));
    ok(rmdir(dir) == 0, "nor a file");
    return done();
}
