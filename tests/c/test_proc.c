/* SPDX-License-Identifier: MIT */
/* test_proc: commands under their cages, well-behaved and hostile; every case in a namespace and as subreaper. Reads
 * the cage from the file named by the first argument or by APSIS_CAGE_FILE, else from this program's folder, else from
 * AP_CAGE. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "tap.h"

static char directory[] = "/tmp/apsis-test-XXXXXX";

static int no_pidfd; /* with which error the kernel refuses them */

long syscall(long number, ...)
{
    long a[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    if (number == SYS_pidfd_open && no_pidfd != 0) {
        errno = no_pidfd;
        return -1;
    }
    void *address = dlsym(RTLD_NEXT, "syscall");
    long (*real)(long, ...);
    memcpy(&real, &address, sizeof real);
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static int skipped_s = -1; /* how many seconds the clock is ahead: one more each time it is asked; -1: it is right */

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (skipped_s >= 0)
        now->tv_sec += skipped_s++;
    return result;
}

static struct ap_proc *last;

/* Runs spec to its end. The result is borrowed until the next run. */
static int run(struct ap_proc_result *result, const struct ap_proc_spec *spec, struct ap_err *err)
{
    ap_proc_close(last);
    last = NULL;
    memset(result, 0, sizeof *result);
    if (ap_proc_start(&last, spec, err) != 0)
        return -1;
    finish(last);
    return ap_proc_result(result, last, err);
}

static int run_shell(struct ap_proc_result *result, const char *script, long long timeout_ms, long long grace_ms)
{
    char *argv[] = {"sh", "-c", (char *)script, NULL};
    struct ap_proc_spec spec = spec_of(argv);
    struct ap_err err = {0};
    spec.timeout_ms = timeout_ms;
    spec.grace_ms = grace_ms;
    return run(result, &spec, &err);
}

static bool head_is(const struct ap_proc_result *result, const char *text)
{
    const struct ap_proc_stream *stream = &result->streams[0];
    return stream->head_count == strlen(text) && memcmp(stream->head, text, stream->head_count) == 0;
}

static int fd_count(void)
{
    int count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* How many processes (zombies have no command line) have the text in their command line. */
static int alive(const char *text)
{
    int found = 0;
    DIR *proc = opendir("/proc");
    for (struct dirent *entry; proc != NULL && (entry = readdir(proc)) != NULL;) {
        char path[300], line[4096];
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        int fd = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        if (fd < 0)
            continue;
        ssize_t count = read(fd, line, sizeof line);
        close(fd);
        found += count > 0 && memmem(line, (size_t)count, text, strlen(text)) != NULL;
    }
    closedir(proc);
    return found;
}

/* A process dies a moment after the signal. */
static bool none_alive(const char *text)
{
    for (int i = 0; i < 2000; i++) {
        if (alive(text) == 0)
            return true;
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    return false;
}

static void test_ends(const char *mode)
{
    struct ap_proc_result result;
    struct ap_err err = {0};
    ok(run_shell(&result, "echo hi; exit 3", 0, 2000) == 0 && result.outcome == AP_PROC_EXIT && result.exited &&
            result.code == 3,
        "%s: an exit code", mode);
    ok(head_is(&result, "hi\n") && result.streams[0].bytes == 3 && result.streams[1].bytes == 0, "%s: its output",
        mode);
    ok(result.max_rss_bytes > 0 && result.max_rss_bytes < 64 << 20 && result.wall_s > 0, "%s: what it used", mode);
    ok(run_shell(&result, "kill -9 $$", 0, 2000) == 0 && result.outcome == AP_PROC_SIGNAL && !result.exited &&
            result.signal == SIGKILL,
        "%s: a killed command is no exit", mode);
    ok(run_shell(&result, "kill -PIPE $$", 0, 2000) == 0 && result.signal == SIGPIPE,
        "%s: SIGPIPE is not inherited ignored", mode);
    ok(run_shell(&result, "ls /proc/self/fd | wc -l; grep SigBlk /proc/self/status", 0, 2000) == 0 &&
            head_is(&result, "4\nSigBlk:\t0000000000000000\n"),
        "%s: only stdin, stdout, stderr, and no signal blocked", mode);
    char *missing[] = {"/nonexistent/x", NULL}, *cannot[] = {"/etc/passwd", NULL}, *empty[] = {"", NULL};
    struct ap_proc_spec spec = spec_of(missing);
    ok(run(&result, &spec, &err) == -1 && strcmp(err.code, "ENOENT") == 0, "%s: a missing command: %s", mode,
        err.message);
    spec = spec_of(cannot);
    ok(run(&result, &spec, &err) == -1 && strcmp(err.code, "EACCES") == 0, "%s: a file that is no program: %s", mode,
        err.message);
    spec = spec_of(empty);
    ok(run(&result, &spec, &err) == -1 && strcmp(err.code, "ENOENT") == 0, "%s: an empty name: %s", mode, err.message);
    char *odd[] = {"printf", "%s|", "", "\xff\xfe", "a b", NULL};
    spec = spec_of(odd);
    ok(run(&result, &spec, &err) == 0 && head_is(&result, "|\xff\xfe|a b|"), "%s: empty and non-UTF-8 arguments", mode);
    spec = spec_of(odd);
    spec.cwd = "/nonexistent";
    ok(run(&result, &spec, &err) == -1 && strcmp(err.code, "ENOENT") == 0, "%s: a missing cwd: %s", mode, err.message);
}

static void test_enemies(const char *mode)
{
    struct ap_proc_result result;
    /* a second: the shell must have set its trap by then, on a busy machine too */
    ok(run_shell(&result, "trap '' TERM; while :; do sleep 7011; done", 1000, 100) == 0 &&
            result.outcome == AP_PROC_TIMEOUT && result.signal == SIGKILL && none_alive("7011"),
        "%s: who ignores SIGTERM is killed", mode);
    ok(run_shell(&result, "trap 'exit 0' TERM; sleep 7012 & wait", 1000, 2000) == 0 &&
            result.outcome == AP_PROC_TIMEOUT && none_alive("7012"),
        "%s: exit code 0 upon the timeout's SIGTERM is a timeout", mode);
    ok(run_shell(&result, "setsid sh -c '(sleep 7013; :) & (setsid sleep 7013 &)' & sleep 0.05; echo ok", 0, 2000) ==
                0 &&
            result.code == 0 && head_is(&result, "ok\n") && none_alive("7013"),
        "%s: a daemon does not survive", mode);
    ok(run_shell(&result, "(setsid sleep 7014 &); echo ok", 60000, 2000) == 0 && result.outcome == AP_PROC_EXIT &&
            result.code == 0 && none_alive("7014"),
        "%s: a daemon that holds stdout is no timeout", mode);
    ok(run_shell(&result, "(while :; do echo 7015; done) & sleep 0.05; exit 7", 60000, 2000) == 0 && result.code == 7,
        "%s: a background child that keeps writing ends with its parent", mode);
    ok(run_shell(&result, "exec >&- 2>&-; sleep 0.1; exit 4", 0, 2000) == 0 && result.code == 4,
        "%s: closed streams are no end", mode);
    ok(run_shell(&result, "exec >&- 2>&-; sleep 7016", 100, 100) == 0 && result.outcome == AP_PROC_TIMEOUT &&
            none_alive("7016"),
        "%s: nor do they hide from the timeout", mode);
    ok(run_shell(&result, "kill 0; sleep 7017", 0, 2000) == 0 && result.signal == SIGTERM && none_alive("7017"),
        "%s: kill 0 hits the command alone", mode);
    ok(run_shell(&result, "read -r id _ _ _ group _ </proc/self/stat; [ $group = $id ]", 0, 2000) == 0 &&
            result.code == 0,
        "%s: it leads a group of its own", mode);
    ok(run_shell(&result, "kill -TERM $PPID; sleep 0.05; echo on", 0, 2000) == 0 && result.outcome == AP_PROC_EXIT &&
            head_is(&result, "on\n"),
        "%s: a command cannot end itself through its init", mode);
    run_shell(&result, "(sleep 7018 &); kill -KILL $PPID; sleep 7018", 200, 100);
    ok(result.outcome != AP_PROC_EXIT && none_alive("7018"), "%s: killing its init leaves nothing", mode);
}

static void test_kills(const char *mode)
{
    char *argv[] = {"sh", "-c", "trap '' TERM; sleep 7021 & echo up; sleep 7021", NULL};
    struct ap_proc_spec spec = spec_of(argv);
    struct ap_proc_result result;
    struct ap_err err = {0};
    struct ap_proc *proc = NULL;
    ok(ap_proc_start(&proc, &spec, &err) == 0, "%s: started", mode);
    ap_proc_stop(proc, 50);
    ap_proc_stop(proc, 60000);
    finish(proc);
    ok(ap_proc_result(&result, proc, &err) == 0 && result.outcome == AP_PROC_KILLED && none_alive("7021"),
        "%s: a stop ends all, and a later one does not put it off", mode);
    ap_proc_close(proc);
    ok(ap_proc_start(&proc, &spec, &err) == 0, "%s: started", mode);
    ap_proc_close(proc);
    ok(alive("7021") == 0, "%s: after a close nothing is left", mode);
    struct ap_proc_spec with_daemon =
        spec_of((char *[]){"sh", "-c", "(setsid sleep 7022 &); echo up; sleep 7022", NULL});
    struct pollfd up;
    ok(ap_proc_start(&proc, &with_daemon, &err) == 0 && ap_proc_fds(proc, &up, 1) == 1 && poll(&up, 1, 10000) == 1,
        "%s: a command with a daemon has started", mode);
    ap_proc_close(proc);
    ok(none_alive("7022"), "%s: a close ends the daemon, too", mode);
    ok(ap_proc_start(&proc, &spec, &err) == 0, "%s: started", mode);
    struct pollfd fds[AP_PROC_FDS];
    int count = ap_proc_fds(proc, fds, AP_PROC_FDS);
    poll(fds, (nfds_t)count, 10000); /* the command has started */
    kill(ap_proc_pid(proc), SIGKILL);
    finish(proc);
    ok(ap_proc_result(&result, proc, &err) == 0 && result.outcome == AP_PROC_SIGNAL && result.signal == SIGKILL &&
            none_alive("7021"),
        "%s: kill -9 of the cage kills all", mode);
    ap_proc_close(proc);
    pid_t pid = fork();
    if (pid == 0) {
        spec.grace_ms = 60000;
        ap_proc_start(&proc, &spec, &err);
        count = ap_proc_fds(proc, fds, AP_PROC_FDS);
        poll(fds, (nfds_t)count, 10000);
        raise(SIGKILL);
    }
    waitpid(pid, NULL, 0);
    ok(none_alive("7021"), "%s: kill -9 of the parent kills all, whatever grace it gave", mode);
}

static void test_output(const char *mode)
{
    struct ap_proc_result result;
    struct ap_err err = {0};
    char path[100], text[4096];
    char *argv[] = {"sh", "-c", "i=1000; while [ $i -lt 3000 ]; do echo $i; i=$((i+1)); done; echo e >&2", NULL};
    struct ap_proc_spec spec = spec_of(argv);
    snprintf(path, sizeof path, "%s/log", directory);
    unlink(path);
    spec.log = path;
    spec.log_limit_bytes = 2000;
    ok(run(&result, &spec, &err) == 0 && result.streams[0].bytes == 10000 && result.streams[0].head_count == 1000 &&
            memcmp(result.streams[0].head, "1000\n", 5) == 0,
        "%s: the head", mode);
    struct ap_proc_stream *stream = &result.streams[0];
    memcpy(text, stream->tail[0], stream->tail_count[0]);
    memcpy(text + stream->tail_count[0], stream->tail[1], stream->tail_count[1]);
    ok(stream->tail_count[0] + stream->tail_count[1] == 500 && memcmp(text, "2900\n", 5) == 0 &&
            memcmp(text + 495, "2999\n", 5) == 0,
        "%s: the tail", mode);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = read(fd, text, sizeof text - 1);
    close(fd);
    text[count > 0 ? count : 0] = '\0';
    ok(strstr(text, "\n[apsis: 7502 bytes left out here]\n") != NULL && strstr(text, "2999\n") != NULL,
        "%s: a log beyond its limit has the number of bytes left out, and ends with the tail", mode);
    spec.log = "/dev/full";
    ok(run(&result, &spec, &err) == 0 && result.code == 0 && strcmp(result.log_error.code, "ENOSPC") == 0 &&
            result.streams[0].bytes == 10000,
        "%s: a full disk is remembered, and the command goes on", mode);
    char *cat[] = {"cat", NULL};
    spec = spec_of(cat);
    spec.stdin_bytes = "a\0b";
    spec.stdin_count = 3;
    ok(run(&result, &spec, &err) == 0 && result.streams[0].bytes == 3 && memcmp(result.streams[0].head, "a\0b", 3) == 0,
        "%s: bytes for stdin", mode);
    ok(run_shell(&result, "head -c 200000000 /dev/zero", 0, 2000) == 0 && result.streams[0].bytes == 200000000,
        "%s: much output", mode);
}

static void test_limits(const char *mode)
{
    char *spin[] = {"sh", "-c", "while :; do :; done", NULL},
         *big[] = {"dd", "if=/dev/zero", "of=/dev/null", "bs=200M", "count=1", NULL};
    struct ap_proc_result result;
    struct ap_err err = {0};
    struct ap_proc_spec spec = spec_of(spin);
    spec.cpu_s = 1;
    ok(run(&result, &spec, &err) == 0 && result.outcome == AP_PROC_SIGNAL && result.signal == SIGXCPU &&
            result.user_s + result.sys_s > 0.5,
        "%s: CPU time", mode);
    spec = spec_of(big);
    spec.memory_bytes = 100 << 20;
    ok(run(&result, &spec, &err) == 0 && result.outcome == AP_PROC_EXIT && result.code != 0, "%s: memory", mode);
}

static void test_descriptors(const char *mode)
{
    struct ap_proc_result result;
    struct ap_err err = {0};
    char *argv[] = {"true", NULL}, *huge[] = {"true", NULL, NULL};
    struct ap_proc_spec spec = spec_of(argv);
    int before, failures = 0, named = 0;
    run(&result, &spec, &err);
    before = fd_count();
    for (int i = 0; i < 100; i++)
        run(&result, &spec, &err);
    huge[1] = malloc(200001);
    memset(huge[1], 'x', 200000);
    huge[1][200000] = '\0';
    spec = spec_of(huge);
    ok(run(&result, &spec, &err) == -1 && strcmp(err.code, "E2BIG") == 0, "%s: an argument of 200 KB: %s", mode,
        err.message);
    free(huge[1]);
    spec = spec_of(argv);
    spec.log = "/nonexistent/log";
    ok(run(&result, &spec, &err) == -1 && strcmp(err.code, "ENOENT") == 0, "%s: a log in no directory: %s", mode,
        err.message);
    spec.log = "/dev/null";
    struct rlimit limit, old;
    getrlimit(RLIMIT_NOFILE, &old);
    spec.stdin_bytes = "x";
    spec.stdin_count = 1;
    for (int room = -3; room < 12; room++) { /* each descriptor in turn is the one too many */
        limit = old;
        limit.rlim_cur = (rlim_t)(before + room);
        setrlimit(RLIMIT_NOFILE, &limit);
        failures += run(&result, &spec, &err) != 0 && strcmp(err.code, "EMFILE") == 0;
        named += strstr(err.message, "stdin_text") != NULL;
        setrlimit(RLIMIT_NOFILE, &old);
    }
    ok(failures > 6 && failures < 15, "%s: out of descriptors is EMFILE (%d of 15)", mode, failures);
    ok(named == 1, "%s: and named where the input cannot be had (%d)", mode, named);
    ok(fd_count() == before, "%s: no descriptor leaks (%d, %d)", mode, fd_count(), before);
    ok(waitpid(-1, NULL, WNOHANG) == -1, "%s: no child is left", mode);
}

/* What a command leaves running is killed and counted with it, whatever its process group. */
static void test_orphans(const char *mode)
{
    struct ap_proc_result result;
    int ran = run_shell(&result,
        "setsid dd if=/dev/zero of=/dev/null bs=60M 2> /dev/null &"
        "until grep -q 'VmHWM:[^0-9]*[6-9][0-9][0-9][0-9][0-9]' /proc/$!/status; do sleep 0.02; done",
        20000, 0);
    ok(ran == 0 && result.exited && result.max_rss_bytes > 50 << 20 && alive("bs=60M") == 0,
        "%s: what it leaves running counts: %lld bytes", mode, result.max_rss_bytes);
}

/* Starts `sleep SECONDS` with a variable in its environment, after `before` bytes of others; as a child, or an orphan.
 * Its id. */
static pid_t leave(const char *seconds, const char *variable, size_t before, bool orphan)
{
    int ready[2];
    char byte;
    pid_t pid = 0;
    if (pipe2(ready, O_CLOEXEC) != 0)
        return 0;
    if (fork() == 0) {
        char *other = calloc(before + 1, 1), *env[] = {other, (char *)variable, NULL};
        memset(other, 'x', before);
        if (orphan && fork() != 0)
            _exit(0);
        pid = getpid();
        if (write(ready[1], &pid, sizeof pid) == sizeof pid)
            execle("/bin/sleep", "sleep", seconds, NULL, env);
        _exit(1);
    }
    if (orphan)
        wait(NULL);
    close(ready[1]);
    if (read(ready[0], &pid, sizeof pid) != sizeof pid ||
        read(ready[0], &byte, 1) != 0) /* the end is there when the program has begun */
        ok(0, "sleep begins");
    close(ready[0]);
    return pid;
}

/* What commands of a program that was killed have left is ended: by their workspace, and if nobody looks after them. */
static void test_sweep(void)
{
    static const struct {
        const char *seconds, *variable;
        size_t before;
        bool orphan, ends;
    } cases[] = {
        {"62.11", "APSIS_WORKSPACE=/none/pool/one", 0, true, true},
        {"62.12", "APSIS_WORKSPACE=/none/pool/one", 100000, true, true},
        {"62.13", "APSIS_WORKSPACE=/none/pool/one", 0, false, false},
        {"62.14", "APSIS_WORKSPACE=/none/pool", 0, true, false},
        {"62.15", "APSIS_WORKSPACE=/none/pools/one", 0, true, false},
        {"62.16", "APSIS_WORKSPACE=/none", 0, true, false},
        {"62.17", "XAPSIS_WORKSPACE=/none/pool/one", 0, true, false},
        {"62.18", "APSIS_WORKSPACE=/none/pool/", 0, true, true},
    };
    enum { CASES = sizeof cases / sizeof cases[0] };
    pid_t pids[CASES];
    struct ap_err err = {0};
    int ended = -1, again = -1, input = fcntl(0, F_DUPFD_CLOEXEC, 10), before = fd_count();
    for (size_t i = 0; i < CASES; i++)
        pids[i] = leave(cases[i].seconds, cases[i].variable, cases[i].before, cases[i].orphan);
    close(0);
    ok(ap_proc_sweep(&ended, "/none/pool", &err) == 0 && ended == 3, "three are ended at first: %d", ended);
    ok(ap_proc_sweep(&again, "/none/pool", &err) == 0 && again == 0, "and none later: %d", again);
    dup2(input, 0);
    ok(fd_count() == before, "no descriptor is left");
    for (size_t i = 0; i < CASES; i++) {
        ok(alive(cases[i].seconds) == !cases[i].ends, "%s with %s %s", cases[i].orphan ? "an orphan" : "a child",
            cases[i].variable, cases[i].ends ? "is gone" : "goes on");
        if (!cases[i].ends && pids[i] > 0)
            kill(pids[i], SIGKILL);
    }
    close(input);
    wait(NULL);
}

/* Descriptor 0 is one like any other. */
static void test_zero(void)
{
    struct ap_proc_result result;
    int input = fcntl(0, F_DUPFD_CLOEXEC, 10);
    ap_proc_close(last);
    last = NULL;
    close(0);
    ok(run_shell(&result, "echo out; exit 3", 0, 0) == 0 && result.code == 3 && head_is(&result, "out\n"),
        "a command without standard input here");
    ap_proc_close(last);
    last = NULL;
    ok(fcntl(0, F_GETFD) < 0, "leaves nothing in its place");
    dup2(input, 0);
    close(input);
}

/* A cage that does not act on signals is killed in the end, and all in it with it. */
static void test_stopped(void)
{
    char *argv[] = {"sleep", "61.73", NULL};
    struct ap_proc_spec spec = spec_of(argv);
    struct ap_proc *proc = NULL;
    struct ap_err err = {0};
    ok(ap_proc_start(&proc, &spec, &err) == 0, "a command");
    for (int i = 0; i < 500 && alive("61.73") < 2; i++) /* the cage's command line has it, too */
        poll(NULL, 0, 10);
    pid_t pid = ap_proc_pid(proc);
    kill(pid, SIGSTOP);
    skipped_s = 0;
    ap_proc_close(proc);
    skipped_s = -1;
    int left = 1;
    for (int i = 0; i < 500 && (left = alive("61.73")) > 0; i++)
        poll(NULL, 0, 10);
    ok(left == 0 && waitpid(-1, NULL, WNOHANG) == -1, "whose cage is stopped is killed with it: %d left", left);
}

/* Ctrl-C at a terminal goes to a group of processes: a cage has its own. */
static void test_group(void)
{
    char *argv[] = {"sleep", "61.74", NULL};
    struct ap_proc_spec spec = spec_of(argv);
    struct ap_proc *proc = NULL;
    struct ap_err err = {0};
    ok(ap_proc_start(&proc, &spec, &err) == 0, "a command");
    pid_t pid = ap_proc_pid(proc);
    for (int i = 0; i < 500 && getpgid(pid) != pid; i++)
        poll(NULL, 0, 10);
    ok(getpgid(pid) == pid, "its cage has left our group of processes");
    ap_proc_close(proc);
}

/* Asked to end within a minute, and then at once: the shorter grace counts, whichever comes first. */
static void test_graces(void)
{
    char *argv[] = {"sh", "-c", "trap '' TERM; echo; while :; do sleep 0.1; done", NULL};
    struct ap_proc_spec spec = spec_of(argv);
    const long long graces[][2] = {{60000, 100}, {100, 60000}};
    for (int i = 0; i < 2; i++) {
        struct ap_proc *proc = NULL;
        struct ap_proc_result result = {0};
        struct ap_err err = {0};
        ok(ap_proc_start(&proc, &spec, &err) == 0, "a command that ignores SIGTERM");
        for (int j = 0; j < 2; j++) {
            for (int k = 0; k < 50; k++) {
                ap_proc_step(proc, NULL, 0);
                poll(NULL, 0, 10);
            }
            if (!ap_proc_done(proc))
                ap_proc_stop(proc, graces[i][j]);
        }
        for (int k = 0; k < 2000 && !ap_proc_done(proc); k++) {
            ap_proc_step(proc, NULL, 0);
            poll(NULL, 0, 10);
        }
        ok(ap_proc_done(proc) && ap_proc_result(&result, proc, &err) == 0 && result.signal == SIGKILL,
            "ends when the shorter of two graces is over, the %s", i == 0 ? "second" : "first");
        ap_proc_close(proc);
    }
}

/* Processes that do not end send no signal by which their number would be looked at. */
static void test_many(enum ap_proc_mode mode)
{
    char *argv[] = {"sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do sleep 31 & done; exec sleep 31", NULL};
    struct ap_proc_spec spec = spec_of(argv);
    struct ap_proc_result result;
    struct ap_err err = {0};
    spec.mode = mode;
    spec.disk_reserve_bytes = 1;
    spec.processes = 5;
    spec.timeout_ms = 15000;
    bool ended = run(&result, &spec, &err) == 0;
    if (geteuid() != 0) /* the kernel limits the user's processes, of which there are more */
        ok(ended && result.outcome != AP_PROC_TIMEOUT, "a user's command cannot start too many");
    else
        ok(ended && result.outcome == AP_PROC_KILLED && result.excess == AP_PROC_PROCESSES,
            "too many processes end a command before its time is up: %d", result.outcome);
}

/* Without no_new_privs a kernel refuses Landlock and seccomp, and apsis would fall back to a weaker mode: so the test
 * requests them by name, if the kernel has them. */
static void test_privileges(void)
{
    enum { VERSION = 1 };
    if (syscall(SYS_landlock_create_ruleset, NULL, 0, VERSION) < 1) {
        ok(1, "no_new_privs # SKIP the kernel has no Landlock");
        return;
    }
    char *argv[] = {"sh", "-c", "sed -n 's/^NoNewPrivs:.//p; s/^CapEff:.//p' /proc/self/status | tr '\\n' ' '", NULL};
    char *box[] = {"p/tmp", NULL};
    struct ap_proc_spec spec = spec_of(argv);
    struct ap_proc_result result;
    struct ap_err err = {0};
    spec.mode = AP_PROC_LANDLOCK;
    spec.box = box;
    ok(run(&result, &spec, &err) == 0 && result.exited && result.code == 0, "Landlock keeps a command in: %s",
        err.message);
    ok(head_is(&result, "0000000000000000 1 "), "which has no capability, and no_new_privs");
}

/* Without the calls of Linux 5.3 (valgrind has none of them) a command ends as with them; any other refusal is an error. */
static void test_no_pidfd(void)
{
    struct ap_proc_result result;
    struct ap_err err = {0};
    struct ap_proc_spec spec = spec_of((char *[]){"true", NULL});
    int before = fd_count();
    no_pidfd = ENOSYS;
    ok(run_shell(&result, "echo hi; exit 3", 0, 2000) == 0 && result.exited && result.code == 3 &&
            head_is(&result, "hi\n"),
        "without pidfds: an exit code and the output");
    ok(run_shell(&result, "sleep 1000", 100, 2000) == 0 && result.outcome == AP_PROC_TIMEOUT, "a timeout");
    no_pidfd = EMFILE;
    ok(run(&result, &spec, &err) == -1 && strcmp(err.code, "EMFILE") == 0 &&
            strncmp(err.message, "pidfd_open: ", 12) == 0,
        "a pidfd that is refused is an error: %s", err.message);
    no_pidfd = 0;
    ok(fd_count() == before, "no descriptor is left open");
}

int main(int argc, char **argv)
{
    char beside[4096];
    snprintf(beside, sizeof beside, "%s", argv[0]);
    char *slash = strrchr(beside, '/');
    snprintf(slash != NULL ? slash + 1 : beside, 8, "cage");
    const char *modes[] = {"namespace", "subreaper"};
    if (cage_load(argc > 1 ? argv[1] : getenv("APSIS_CAGE_FILE")) != 0 && cage_load(beside) != 0 &&
        cage_load(AP_CAGE) != 0) {
        ok(0, "the cage program must be at %s or named by the first argument", AP_CAGE);
        return done();
    }
    if (mkdtemp(directory) == NULL)
        return 1;
    for (int i = 0; i < 2; i++) {
        setenv("APSIS_CAGE", modes[i], 1);
        test_ends(modes[i]);
        test_enemies(modes[i]);
        test_kills(modes[i]);
        test_output(modes[i]);
        test_limits(modes[i]);
        test_descriptors(modes[i]);
        test_orphans(modes[i]);
    }
    unsetenv("APSIS_CAGE");
    test_sweep();
    test_zero();
    test_no_pidfd();
    test_stopped();
    test_group();
    test_graces();
    test_many(AP_PROC_WATCHED);
    test_many(AP_PROC_SUBREAPER);
    test_privileges();
    ap_proc_close(last);
    char path[100];
    snprintf(path, sizeof path, "%s/log", directory);
    unlink(path);
    rmdir(directory);
    return done();
}
