/* SPDX-License-Identifier: MIT */
/* proc: runs one command to its end, through its cage.
 * Owns the cage process, its pipes and the log files from start to close; when done, nothing of the command is left
 * running. Reads both streams through one shared buffer into logs, bounded heads and tails, and the sink, so memory
 * does not grow with output. The cage enforces the limits and reports how the command ended; deadlines here are only
 * for a cage that hangs. Never judges an outcome: a crash is a result. Knows no Lua. Called only by lproc.c. */
#define _GNU_SOURCE
#include "proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "proc/proccage.h"
#include "proc/procout.h"
#include "proc/procreport.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

enum {
    CHUNK = 256 * 1024,
    PIPE_ROOM = 1024 * 1024,
    PIPE_FULL = 64 * 1024,
    READS_PER_STEP = 4,
    READS_AT_END = 16,
    ARGUMENT_PAGES = 32
};
static const long long SLACK_NS = 5000000000; /* time for the cage to stop the command, before it is killed itself */

extern char **environ;

struct stream {
    int fd;
    unsigned long long bytes;
    struct ap_buf head;
    struct ap_ring tail;
};

struct ap_proc {
    pid_t pid;                        /* of the cage */
    int pidfd, report_fd;             /* pidfd: of the cage's supervisor; if that was killed, of its init */
    bool reaped, killed, done, asked; /* killed: the supervisor, which also ends the rest */
    struct ap_procreport report;
    char *name;
    long long started_ns, deadline_ns, grace_ms;
    size_t head_bytes;
    struct ap_sink sink;
    struct stream streams[2];
    struct ap_log logs[3]; /* both streams, stdout, stderr */
    struct ap_err start_error, log_error;
    struct ap_proc_result result;
};

static char chunk[CHUNK];

static void fd_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* ---- output ---- */

static void stream_add(struct ap_proc *proc, int which, const char *bytes, size_t count)
{
    struct stream *stream = &proc->streams[which];
    stream->bytes += count;
    ap_log_add(&proc->logs[0], bytes, count, &proc->log_error);
    ap_log_add(&proc->logs[1 + which], bytes, count, &proc->log_error);
    if (which == 0 && proc->sink.feed != NULL)
        proc->sink.feed(proc->sink.self, bytes, count);
    size_t room = proc->head_bytes - stream->head.used, fits = count < room ? count : room;
    if (ap_buf_add(&stream->head, bytes, fits) != 0)
        proc->head_bytes = 0; /* out of memory: the following bytes go to the tail only */
    ap_ring_add(&stream->tail, bytes + fits, count - fits);
}

/* Reads at most `reads` buffers, so that one command cannot keep the others waiting. */
static void stream_read(struct ap_proc *proc, int which, int reads)
{
    struct stream *stream = &proc->streams[which];
    while (stream->fd >= 0 && reads-- > 0) {
        ssize_t count = read(stream->fd, chunk, sizeof chunk);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno == EAGAIN)
            return;
        if (count <= 0) {
            fd_close(&stream->fd);
            return;
        }
        if (count == PIPE_FULL) /* it was full: worth a larger one, if the user may have it */
            fcntl(stream->fd, F_SETPIPE_SZ, PIPE_ROOM);
        stream_add(proc, which, chunk, (size_t)count);
    }
}

/* ---- start ---- */

static int pipe_open(int *ours, int *theirs, struct ap_err *err)
{
    int pair[2];
    if (pipe2(pair, O_CLOEXEC) != 0)
        return ap_err_errno(err, errno, "pipe");
    *ours = pair[0];
    *theirs = pair[1];
    fcntl(*ours, F_SETFL, O_NONBLOCK);
    return 0;
}

static int stdin_open(int *fd, const struct ap_proc_spec *spec, struct ap_err *err)
{
    const char *path = spec->stdin_path != NULL ? spec->stdin_path : "/dev/null";
    if (spec->stdin_bytes == NULL) {
        *fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        return *fd < 0 ? ap_err_errno(err, errno, "open %s", path) : 0;
    }
    *fd = memfd_create("stdin", MFD_CLOEXEC);
    if (*fd < 0 || ap_sys_write(*fd, spec->stdin_bytes, spec->stdin_count) != 0 || lseek(*fd, 0, SEEK_SET) != 0)
        return ap_err_errno(err, errno, "stdin_text");
    return 0;
}

/* The record, and the files into which the cage writes both streams. */
static int record_open(
    struct ap_proc *proc, int theirs[AP_FD_CHILD_COUNT], const struct ap_proc_spec *spec, struct ap_err *err)
{
    theirs[AP_FD_STDOUT] = fcntl(proc->logs[1].fd, F_DUPFD_CLOEXEC, AP_FD_CHILD_COUNT);
    theirs[AP_FD_STDERR] = fcntl(proc->logs[2].fd, F_DUPFD_CLOEXEC, AP_FD_CHILD_COUNT);
    theirs[AP_FD_RECORD] = open(spec->record, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
    bool opened = theirs[AP_FD_STDOUT] >= 0 && theirs[AP_FD_STDERR] >= 0 && theirs[AP_FD_RECORD] >= 0;
    return opened ? 0 : ap_err_errno(err, errno, "open %s", spec->record);
}

/* Opens all descriptors of a start; the caller closes theirs[] in any case. */
static int files_open(
    struct ap_proc *proc, int theirs[AP_FD_CHILD_COUNT], const struct ap_proc_spec *spec, struct ap_err *err)
{
    const char *paths[] = {spec->log, spec->stdout_file, spec->stderr_file};
    for (int i = 0; i < 3; i++)
        if (ap_log_open(&proc->logs[i], paths[i], spec->log_limit_bytes, spec->tail_bytes, err) != 0)
            return -1;
    if (stdin_open(&theirs[AP_FD_STDIN], spec, err) != 0 ||
        pipe_open(&proc->report_fd, &theirs[AP_FD_REPORT], err) != 0)
        return -1;
    if (spec->record != NULL ? record_open(proc, theirs, spec, err) != 0
                             : pipe_open(&proc->streams[0].fd, &theirs[AP_FD_STDOUT], err) != 0 ||
                                   pipe_open(&proc->streams[1].fd, &theirs[AP_FD_STDERR], err) != 0)
        return -1;
    for (int i = 0; i < AP_FD_CHILD_COUNT; i++)
        if ((i != AP_FD_RECORD || spec->record != NULL) && (theirs[i] = ap_fd_raise(theirs[i])) < 0)
            return ap_err_errno(err, errno, "duplicating a descriptor");
    return 0;
}

/* posix_spawn does not copy page tables: as cheap in a large process as in a small one. */
static int cage_spawn(pid_t *pid, const int theirs[AP_FD_CHILD_COUNT], char *const *argv, char *const *env)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all;
    sigfillset(&all);
    int errnum = posix_spawn_file_actions_init(&actions);
    if (errnum != 0)
        return errnum;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(
        &attributes, &all); /* the cage waits for its signals and unblocks them for the command */
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    for (int i = 0; i < AP_FD_CHILD_COUNT && errnum == 0; i++)
        errnum = theirs[i] >= 0 ? posix_spawn_file_actions_adddup2(&actions, theirs[i], i) : 0;
    if (errnum == 0)
        errnum = posix_spawn(pid, ap_proccage_path(), &actions, &attributes, argv, env != NULL ? env : environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return errnum;
}

/* The numbers that the cage reads. */
static void plan_write(char *plan, size_t room, const struct ap_proc_spec *spec, long long deadline_ns, size_t boxes)
{
    const char *forced = getenv("APSIS_CAGE");
    enum ap_proc_mode mode = spec->mode;
    if (mode == AP_PROC_WATCHED && forced != NULL && strcmp(forced, "subreaper") == 0)
        mode = AP_PROC_SUBREAPER;
    snprintf(plan, room, "%d %d %lld %lld %lld %lld %lld %lld %lld %d %lld %lld %lld %zu", (int)getpid(), (int)mode,
        deadline_ns, spec->grace_ms, spec->cpu_s, spec->memory_bytes, spec->file_bytes, spec->processes,
        spec->open_files, spec->network, spec->private_bytes, spec->disk_reserve_bytes,
        spec->record != NULL ? (long long)spec->log_limit_bytes : -1, boxes);
}

static size_t list_length(char *const *list)
{
    size_t count = 0;
    while (list != NULL && list[count] != NULL)
        count++;
    return count;
}

static int cage_start(
    struct ap_proc *proc, const int theirs[AP_FD_CHILD_COUNT], const struct ap_proc_spec *spec, struct ap_err *err)
{
    char plan[512];
    size_t argc = list_length(spec->argv), boxes = list_length(spec->box);
    for (size_t i = 0; i < argc; i++)
        if (strlen(spec->argv[i]) >= ARGUMENT_PAGES * (size_t)sysconf(_SC_PAGESIZE)) /* the kernel's limit */
            return ap_err_errno(err, E2BIG, "%s", spec->argv[0]);
    char **argv = malloc((argc + boxes + 4) * sizeof *argv);
    if (argv == NULL)
        return ap_err_errno(err, ENOMEM, "%s", spec->argv[0]);
    argv[0] = "apsis-cage";
    argv[1] = plan;
    argv[2] = spec->cwd != NULL ? (char *)spec->cwd : "";
    if (boxes > 0)
        memcpy(argv + 3, spec->box, boxes * sizeof *argv);
    memcpy(argv + 3 + boxes, spec->argv, (argc + 1) * sizeof *argv);
    proc->started_ns = ap_sys_now_ns();
    long long deadline_ns = spec->timeout_ms > 0 ? proc->started_ns + spec->timeout_ms * 1000000 : -1;
    plan_write(plan, sizeof plan, spec, deadline_ns, boxes);
    proc->deadline_ns = deadline_ns < 0 ? -1 : deadline_ns + spec->grace_ms * 1000000 + SLACK_NS;
    int errnum = cage_spawn(&proc->pid, theirs, argv, spec->env);
    free(argv);
    if (errnum != 0) {
        proc->pid = 0; /* it never existed */
        return ap_err_errno(err, errnum, "%s", spec->argv[0]);
    }
    proc->pidfd = (int)syscall(SYS_pidfd_open, proc->pid, 0);
    if (proc->pidfd < 0 && errno == ENOSYS) /* valgrind has no pidfd: the end of the report is the cage's end too */
        proc->pidfd = fcntl(proc->report_fd, F_DUPFD_CLOEXEC, 0);
    return proc->pidfd < 0 ? ap_err_errno(err, errno, "pidfd_open") : 0;
}

int ap_proc_start(struct ap_proc **out, const struct ap_proc_spec *spec, struct ap_err *err)
{
    int result = -1, theirs[AP_FD_CHILD_COUNT] = {-1, -1, -1, -1, -1};
    struct ap_proc *proc = calloc(1, sizeof *proc);
    if (proc == NULL || (proc->name = strdup(spec->argv[0])) == NULL) {
        free(proc);
        return ap_err_errno(err, ENOMEM, "%s", spec->argv[0]);
    }
    proc->pidfd = proc->report_fd = proc->streams[0].fd = proc->streams[1].fd = -1;
    proc->logs[0].fd = proc->logs[1].fd = proc->logs[2].fd = -1;
    proc->streams[0].tail.room = proc->streams[1].tail.room = spec->tail_bytes;
    proc->head_bytes = spec->head_bytes;
    proc->grace_ms = spec->grace_ms;
    proc->sink = spec->sink;
    if (ap_proccage_path() == NULL) {
        ap_err_set(err, "ENOEXEC", "the cage program was not handed over");
        goto out;
    }
    if (files_open(proc, theirs, spec, err) != 0 || cage_start(proc, theirs, spec, err) != 0)
        goto out;
    *out = proc;
    proc = NULL;
    result = 0;
out:
    for (int i = 0; i < AP_FD_CHILD_COUNT; i++)
        fd_close(&theirs[i]);
    ap_proc_close(proc);
    return result;
}

/* ---- the run ---- */

int ap_proc_fds(const struct ap_proc *proc, struct pollfd *fds, int room)
{
    const int ours[] = {proc->streams[0].fd, proc->streams[1].fd, proc->pidfd};
    int count = 0;
    for (int i = 0; i < AP_PROC_FDS; i++)
        if (ours[i] >= 0 && count < room)
            fds[count++] = (struct pollfd){.fd = ours[i], .events = POLLIN};
    return count;
}

/* Without the cage's line about the end, the cage was killed and everything with it, as by SIGKILL. */
static void report_read(struct ap_proc *proc)
{
    struct ap_proc_result *result = &proc->result;
    ap_procreport_fill(&proc->report, proc->report_fd);
    struct ap_procreport_asker asker = {proc->name, proc->started_ns, proc->asked, proc->killed};
    if (ap_procreport_read(result, &proc->start_error, &proc->report, &asker))
        return;
    result->outcome = proc->asked ? AP_PROC_KILLED : AP_PROC_SIGNAL;
    if (proc->deadline_ns == 0 && !proc->asked)
        result->outcome = AP_PROC_TIMEOUT;
    result->signal = SIGKILL;
    result->wall_s = (double)(ap_sys_now_ns() - proc->started_ns) / 1e9;
}

static void finish(struct ap_proc *proc)
{
    proc->done = true;
    report_read(proc);
    for (int i = 0; i < 2; i++) { /* every writer is gone: the pipe's content is complete */
        struct stream *stream = &proc->streams[i];
        stream_read(proc, i, READS_AT_END);
        fd_close(&stream->fd);
        struct ap_proc_stream *shown = &proc->result.streams[i];
        shown->bytes = stream->bytes;
        shown->head = stream->head.bytes;
        shown->head_count = stream->head.used;
        ap_ring_parts(&stream->tail, shown->tail, shown->tail_count);
    }
    for (int i = 0; i < 3; i++)
        ap_log_finish(&proc->logs[i], &proc->log_error);
    if (proc->log_error.code[0] != '\0')
        proc->result.log_error = proc->log_error;
    proc->result.log_path = proc->logs[0].path;
    fd_close(&proc->pidfd);
    fd_close(&proc->report_fd);
}

/* After the supervisor was killed: its init ends the rest, or ends with it, a moment later. From now on that is
 * awaited. An init that is not named, or gone, has started or left nothing: it has closed the report, or is about
 * to. */
static bool init_await(struct ap_proc *proc)
{
    ap_procreport_fill(&proc->report, proc->report_fd);
    int init = ap_procreport_init(&proc->report);
    int pidfd = init > 0 ? (int)syscall(SYS_pidfd_open, init, 0) : -1;
    if (pidfd < 0)
        pidfd = fcntl(proc->report_fd, F_DUPFD_CLOEXEC, 0);
    if (pidfd < 0)
        return false;
    fd_close(&proc->pidfd);
    proc->pidfd = pidfd;
    if (proc->deadline_ns != 0)
        proc->deadline_ns = -1;
    return true;
}

/* Whether nothing of the cage is left. Also works if somebody ignores SIGCHLD, and the kernel has reaped it
 * (ECHILD). */
static bool cage_gone(struct ap_proc *proc)
{
    int status = SIGKILL;
    if (!proc->reaped) {
        pid_t pid = waitpid(proc->pid, &status, WNOHANG);
        proc->reaped = pid == proc->pid || (pid < 0 && errno == ECHILD);
        if (!proc->reaped) {
            ap_procreport_fill(&proc->report, proc->report_fd);
            return false;
        }
        proc->killed = WIFSIGNALED(status);
        if (!proc->killed || !init_await(proc))
            return true;
    }
    struct pollfd ended = {.fd = proc->pidfd, .events = POLLIN};
    return poll(&ended, 1, 0) != 0;
}

void ap_proc_step(struct ap_proc *proc, const struct pollfd *fds, int count)
{
    bool overdue = !proc->done && proc->deadline_ns > 0 && ap_sys_now_ns() >= proc->deadline_ns,
         ended = fds == NULL || overdue;
    if (proc->done)
        return;
    for (int i = 0; i < 2; i++)
        if (fds == NULL)
            stream_read(proc, i, READS_PER_STEP);
    for (int i = 0; i < count && fds != NULL; i++) {
        if (fds[i].revents == 0)
            continue;
        for (int which = 0; which < 2; which++)
            if (fds[i].fd == proc->streams[which].fd)
                stream_read(proc, which, READS_PER_STEP);
        ended = ended || fds[i].fd == proc->pidfd;
    }
    if (ended && cage_gone(proc)) {
        finish(proc);
    } else if (overdue && !proc->reaped) {
        kill(proc->pid, SIGKILL);
        proc->deadline_ns = 0; /* nothing is left to try */
    }
}

bool ap_proc_done(const struct ap_proc *proc)
{
    return proc->done;
}

long long ap_proc_deadline_ns(const struct ap_proc *proc)
{
    return proc->done || proc->deadline_ns <= 0 ? -1 : proc->deadline_ns;
}

void ap_proc_stop(struct ap_proc *proc, long long grace_ms)
{
    if (proc->done)
        return;
    if (grace_ms < 0)
        grace_ms = proc->grace_ms;
    proc->asked = true;
    sigqueue(proc->pid, SIGTERM, (union sigval){.sival_int = (int)grace_ms});
    long long deadline_ns = ap_sys_now_ns() + grace_ms * 1000000 + SLACK_NS;
    if (proc->deadline_ns < 0 || deadline_ns < proc->deadline_ns)
        proc->deadline_ns = deadline_ns;
}

int ap_proc_result(struct ap_proc_result *out, const struct ap_proc *proc, struct ap_err *err)
{
    if (proc->start_error.code[0] != '\0') {
        *err = proc->start_error;
        return -1;
    }
    *out = proc->result;
    return 0;
}

int ap_proc_pid(const struct ap_proc *proc)
{
    return proc->pid;
}

void ap_proc_close(struct ap_proc *proc)
{
    if (proc == NULL)
        return;
    bool gone = proc->pid <= 0 || proc->done;
    for (int attempt = 0; !gone && attempt < 2; attempt++) {
        long long until_ns = ap_sys_now_ns() + SLACK_NS;
        while (!(gone = cage_gone(proc)) && ap_sys_now_ns() < until_ns) {
            struct pollfd ended = {.fd = proc->pidfd, .events = POLLIN};
            if (!proc->reaped && attempt == 0 && proc->pidfd >= 0) /* again: one with a grace may have been pending */
                sigqueue(proc->pid, SIGTERM, (union sigval){.sival_int = 0});
            else if (!proc->reaped)
                kill(proc->pid, SIGKILL);
            poll(&ended, 1, proc->pidfd >= 0 ? 20 : 1);
        }
    }
    fd_close(&proc->pidfd);
    fd_close(&proc->report_fd);
    for (int i = 0; i < 2; i++) {
        fd_close(&proc->streams[i].fd);
        ap_buf_dispose(&proc->streams[i].head);
        free(proc->streams[i].tail.bytes);
    }
    for (int i = 0; i < 3; i++)
        ap_log_dispose(&proc->logs[i]);
    free(proc->name);
    free(proc);
}
