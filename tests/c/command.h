/* SPDX-License-Identifier: MIT */
/* command: what a C test needs to run commands: the cage program read from a file, a spec, and waiting for the end. */
#ifndef AP_COMMAND_H
#define AP_COMMAND_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "proc/proc.h"

static int cage_load(const char *path)
{
    struct ap_buf bytes = {0};
    struct ap_err err = {0};
    char block[65536];
    ssize_t count;
    int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return -1;
    while ((count = read(fd, block, sizeof block)) > 0)
        ap_buf_add(&bytes, block, (size_t)count);
    close(fd);
    int result = ap_proc_cage(bytes.bytes, bytes.used, &err);
    ap_buf_dispose(&bytes);
    return result;
}

static struct ap_proc_spec spec_of(char *const *argv)
{
    return (struct ap_proc_spec){.argv = argv,
        .grace_ms = 2000,
        .cpu_s = -1,
        .memory_bytes = -1,
        .file_bytes = -1,
        .processes = -1,
        .open_files = -1,
        .log_limit_bytes = 1 << 20,
        .head_bytes = 1000,
        .tail_bytes = 500};
}

static void finish(struct ap_proc *proc)
{
    struct pollfd fds[AP_PROC_FDS];
    while (!ap_proc_done(proc)) {
        int count = ap_proc_fds(proc, fds, AP_PROC_FDS);
        poll(fds, (nfds_t)count, 200);
        errno = errno == EAGAIN ? EINTR : EAGAIN; /* left over: it means nothing unless a call fails */
        ap_proc_step(proc, fds, count);
    }
}

#endif
