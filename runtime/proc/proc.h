/* SPDX-License-Identifier: MIT */
/* proc: runs commands, each under its own cage, to a result. Nothing here waits: the caller polls the descriptors of
 * ap_proc_fds and calls ap_proc_step. Called only by lproc.c. */
#ifndef AP_PROC_H
#define AP_PROC_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "proc/result.h"

struct ap_proc;

enum { AP_PROC_FDS = 3 }; /* the most that ap_proc_fds fills */

/* Confinement modes, numbered as in the cage. */
enum ap_proc_mode { AP_PROC_WATCHED, AP_PROC_SUBREAPER, AP_PROC_NAMESPACES, AP_PROC_LANDLOCK, AP_PROC_FILTERED };

/* What to run. Zero is the default, except for limits: -1 is none there. Pointers are borrowed only during the start,
 * except the sink, which must live until the process is closed. */
struct ap_proc_spec {
    char *const *argv; /* ended by NULL; argv[0] is looked up in the command's PATH */
    char *const *env;  /* ended by NULL; NULL inherits */
    const char *cwd;
    const char *stdin_path; /* NULL is /dev/null */
    const void *stdin_bytes;
    size_t stdin_count;
    long long timeout_ms, grace_ms; /* timeout 0: none */
    long long cpu_s, memory_bytes, file_bytes, processes, open_files;
    enum ap_proc_mode mode;
    char *const *box; /* NULL, or ended by NULL: a letter and a path each, as in cage/plan.h */
    bool network;
    long long private_bytes, disk_reserve_bytes;
    const char *log, *stdout_file, *stderr_file;
    const char *record; /* NULL, or a file that gets the cage's line about the end; both streams are then files */
    unsigned long long log_limit_bytes;
    size_t head_bytes, tail_bytes;
    struct ap_sink sink; /* receives all of stdout; feed NULL is none */
};

/* Starts a command. -1 with err: nothing was started and nothing is left open. */
int ap_proc_start(struct ap_proc **out, const struct ap_proc_spec *spec, struct ap_err *err);

/* Fills what to poll (at most AP_PROC_FDS); returns how many. */
int ap_proc_fds(const struct ap_proc *proc, struct pollfd *fds, int room);

/* Handles what is ready. fds may be NULL: looks at everything. */
void ap_proc_step(struct ap_proc *proc, const struct pollfd *fds, int count);

bool ap_proc_done(const struct ap_proc *proc);

/* When to step even if nothing is ready (CLOCK_MONOTONIC, ns); -1 never. */
long long ap_proc_deadline_ns(const struct ap_proc *proc);

/* Asks it to end: SIGTERM to every process, SIGKILL grace_ms later (-1: the spec's grace; 0: SIGKILL at once). */
void ap_proc_stop(struct ap_proc *proc, long long grace_ms);

/* Once done: 0 with the result (borrowed until the close), or -1 with the reason why the command could not be
 * started. */
int ap_proc_result(struct ap_proc_result *out, const struct ap_proc *proc, struct ap_err *err);

/* The cage's process id; the command's own is unknown out here. */
int ap_proc_pid(const struct ap_proc *proc);

/* Kills what is running, waits (bounded) until nothing of it is left, frees. NULL is fine. */
void ap_proc_close(struct ap_proc *proc);

/* Kills at once the processes that commands of a killed apsis left running and whose environment has APSIS_WORKSPACE in
 * dir. Returns in *ended how many there were. */
int ap_proc_sweep(int *ended, const char *dir, struct ap_err *err);

#endif
