/* SPDX-License-Identifier: MIT */
/* floor: what one experiment cannot cost less than, and the stopwatch of bench.lua. Owns no project and judges nothing: it prints
 * numbers, one line each. `floor floor DIR N` gives medians of spawn, commit, append and replace, in microseconds;
 * `floor time LOG PROGRAM ARG...` runs a program with its output through a pipe and gives wall, user, system seconds, peak
 * kilobytes and exit code; `floor pair N PROGRAM ARG... -- PROGRAM ARG...` gives the median wall of each, in turn. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <git2.h>
#include <git2/sys/commit.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { LARGEST = 100000 };

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static double now_us(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec * 1e6 + (double)at.tv_nsec / 1e3;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    return values[count / 2];
}

/* Starts a program with its output into a pipe, reads that to its end into log_fd (-1: nowhere), and waits. */
static int run_once(char **argv, int log_fd, struct rusage *usage)
{
    int ends[2], status;
    pid_t pid;
    posix_spawn_file_actions_t actions;
    if (pipe2(ends, O_CLOEXEC) != 0)
        fail("pipe");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    if (log_fd >= 0)
        posix_spawn_file_actions_adddup2(&actions, log_fd, 2);
    if (posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ) != 0)
        fail(argv[0]);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    char bytes[65536];
    for (ssize_t count; (count = read(ends[0], bytes, sizeof bytes)) > 0;)
        if (log_fd >= 0 && write(log_fd, bytes, (size_t)count) != count)
            fail("log");
    close(ends[0]);
    if (wait4(pid, &status, 0, usage) != pid)
        fail("wait4");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static double spawn_us(void)
{
    char *argv[] = {"sh", "-c", "echo hi", NULL};
    struct rusage usage;
    double began = now_us();
    if (run_once(argv, -1, &usage) != 0)
        fail("sh");
    return now_us() - began;
}

/* A blob, its tree, a commit, a ref of its own: all of it on the disk. */
static double commit_us(git_repository *repo, const char *name, int number, git_oid *parent)
{
    char text[64], ref[64];
    git_oid blob, tree, commit;
    git_treebuilder *builder = NULL;
    git_signature *who = NULL;
    const git_oid *parents[] = {parent};
    snprintf(text, sizeof text, "%s %d\n", name, number);
    snprintf(ref, sizeof ref, "refs/floor/%s%d", name, number);
    double began = now_us();
    int failed = git_blob_create_from_buffer(&blob, repo, text, strlen(text)) < 0 ||
                 git_treebuilder_new(&builder, repo, NULL) < 0 ||
                 git_treebuilder_insert(NULL, builder, "value.txt", &blob, GIT_FILEMODE_BLOB) < 0 ||
                 git_treebuilder_write(&tree, builder) < 0 ||
                 git_signature_new(&who, "floor", "floor@localhost", 1, 0) < 0 ||
                 git_commit_create_from_ids(&commit, repo, ref, who, who, NULL, text, &tree, number > 0, parents) < 0;
    double took = now_us() - began;
    git_signature_free(who);
    git_treebuilder_free(builder);
    if (failed) {
        fprintf(stderr, "libgit2: %s\n", git_error_last() ? git_error_last()->message : "failed");
        exit(1);
    }
    *parent = commit;
    return took;
}

static double append_us(int fd)
{
    char line[500];
    memset(line, 'x', sizeof line);
    double began = now_us();
    if (write(fd, line, sizeof line) != (ssize_t)sizeof line || fsync(fd) != 0)
        fail("append");
    return now_us() - began;
}

static double replace_us(int sync)
{
    char bytes[2048];
    memset(bytes, 'x', sizeof bytes);
    double began = now_us();
    int fd = open("state.tmp", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || write(fd, bytes, sizeof bytes) != (ssize_t)sizeof bytes || (sync && fsync(fd) != 0) ||
        close(fd) != 0 || rename("state.tmp", "state.json") != 0)
        fail("replace");
    if (sync) {
        int folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (folder < 0 || fsync(folder) != 0)
            fail("fsync");
        close(folder);
    }
    return now_us() - began;
}

static int floor_of(const char *dir, int count)
{
    static double spawn[LARGEST], commit[LARGEST], append[LARGEST], replace[LARGEST], synced[LARGEST];
    git_repository *repo = NULL;
    git_oid parent;
    if (mkdir(dir, 0777) != 0 || chdir(dir) != 0)
        fail(dir);
    git_libgit2_init();
    git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1);
    if (git_repository_init(&repo, "repo", 0) < 0)
        fail("repository");
    int fd = open("journal", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        fail("journal");
    for (int i = 0; i < count; i++) {
        spawn[i] = spawn_us();
        commit[i] = commit_us(repo, "c", i, &parent);
        append[i] = append_us(fd);
        replace[i] = replace_us(0);
        synced[i] = replace_us(1);
    }
    close(fd);
    git_repository_free(repo);
    printf("%.1f %.1f %.1f %.1f %.1f\n", median(spawn, count), median(commit, count), median(append, count),
        median(replace, count), median(synced, count));
    return 0;
}

static int time_of(const char *log, char **argv)
{
    struct rusage usage;
    int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        fail(log);
    double began = now_us();
    int code = run_once(argv, fd, &usage);
    printf("%.6f %.6f %.6f %ld %d\n", (now_us() - began) / 1e6,
        (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6,
        (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6, usage.ru_maxrss, code);
    return 0;
}

static int pair_of(int count, char **a, char **b)
{
    static double first[LARGEST], second[LARGEST];
    struct rusage usage;
    for (int i = -1; i < count; i++) { /* the first round warms the caches */
        double began = now_us();
        int failed = run_once(a, -1, &usage);
        double middle = now_us();
        failed |= run_once(b, -1, &usage);
        if (failed)
            fail("pair");
        if (i < 0)
            continue;
        first[i] = middle - began;
        second[i] = now_us() - middle;
    }
    printf("%.1f %.1f\n", median(first, count), median(second, count));
    return 0;
}

int main(int argc, char **argv)
{
    int count = argc > 2 ? atoi(argv[argc > 3 && strcmp(argv[1], "floor") == 0 ? 3 : 2]) : 0;
    if (argc == 4 && strcmp(argv[1], "floor") == 0 && count > 0 && count <= LARGEST)
        return floor_of(argv[2], count);
    if (argc > 3 && strcmp(argv[1], "time") == 0)
        return time_of(argv[2], argv + 3);
    if (argc > 3 && strcmp(argv[1], "pair") == 0 && count > 0 && count <= LARGEST)
        for (int i = 3; i < argc - 1; i++)
            if (strcmp(argv[i], "--") == 0) {
                argv[i] = NULL;
                return pair_of(count, argv + 3, argv + i + 1);
            }
    fputs("usage: floor floor DIR N | floor time LOG PROGRAM ARG... | floor pair N PROGRAM ARG... -- PROGRAM ARG...\n",
        stderr);
    return 2;
}
