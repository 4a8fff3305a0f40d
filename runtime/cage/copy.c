/* SPDX-License-Identifier: MIT */
/* copy: a command's output on its way into files, of which it has no descriptor: pipes that the init reads, so that
 * what was printed arrives even if apsis has been killed. Each file keeps the first bytes up to a limit, then the
 * number of those left out and the last ones. A full disk is no fault of the command: what cannot be written is lost,
 * and that is reported. Part of the cage program, in its init. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cage/copy.h"
#include "cage/plan.h"
#include "cage/clock.h"

enum { TAIL = 256 << 10, CHUNK = 64 << 10, READS = 16 };

static struct {
    int ours, theirs;
    long long count;
} streams[2] = {{.ours = -1, .theirs = -1}, {.ours = -1, .theirs = -1}};
static char tails[2][TAIL];    /* rings of what is beyond the limit */
static int signals = -1, lost; /* the errno of the first bytes that were not written; 0: none */

int cage_copy_open(const sigset_t *set)
{
    for (int i = 0; i < 2; i++) {
        int pair[2];
        if (pipe2(pair, O_CLOEXEC) != 0)
            return -1;
        streams[i].ours = pair[0];
        streams[i].theirs = pair[1];
        fcntl(pair[0], F_SETFL, O_NONBLOCK);
    }
    signals = signalfd(-1, set, SFD_CLOEXEC);
    return signals < 0 ? -1 : 0;
}

void cage_copy_take(void)
{
    for (int i = 0; i < 2; i++)
        dup2(streams[i].theirs, STDOUT_FILENO + i);
}

void cage_copy_started(void)
{
    for (int i = 0; i < 2; i++)
        close(streams[i].theirs);
}

static void put(int which, const char *bytes, long long count)
{
    while (count > 0) {
        ssize_t done = write(STDOUT_FILENO + which, bytes, (size_t)count);
        if (done < 0 && errno != EINTR) {
            lost = lost != 0 ? lost : errno;
            return;
        }
        bytes += done > 0 ? done : 0;
        count -= done > 0 ? done : 0;
    }
}

static void take_in(int which, const char *bytes, long long count)
{
    long long room = cage_plan[RECORD] - streams[which].count, fits = room < 0 ? 0 : count < room ? count : room;
    put(which, bytes, fits);
    for (long long i = fits; i < count; i++)
        tails[which][(streams[which].count + i - cage_plan[RECORD]) % TAIL] = bytes[i];
    streams[which].count += count;
}

/* Reads a stream until it is empty or has ended, or `most` times. */
static void copy(int which, int most)
{
    static char bytes[CHUNK];
    ssize_t count;
    while (streams[which].ours >= 0 && most-- > 0) {
        count = read(streams[which].ours, bytes, sizeof bytes);
        if (count > 0) {
            take_in(which, bytes, count);
        } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
            close(streams[which].ours);
            streams[which].ours = -1;
        } else if (errno == EAGAIN) {
            return;
        }
    }
}

int cage_copy_await(const sigset_t *set, siginfo_t *info, long long until_ns)
{
    if (signals < 0)
        return cage_signal_await(set, info, until_ns);
    for (;;) {
        struct pollfd fds[] = {
            {signals, POLLIN, 0}, {streams[0].ours, POLLIN, 0}, {streams[1].ours, POLLIN, 0}}; /* poll skips -1 */
        struct timespec left = cage_left(until_ns);
        int ready = ppoll(fds, 3, &left, NULL);
        for (int i = 0; i < 2; i++)
            copy(i, READS);
        if (ready > 0 && fds[0].revents != 0)
            return cage_signal_await(set, info, 0);
        if (cage_now_ns() >= until_ns)
            return 0;
    }
}

int cage_copy_finish(void)
{
    for (int i = 0; i < 2; i++) {
        char line[64];
        copy(i, 1 << 20);
        long long beyond = streams[i].count - cage_plan[RECORD], gone = beyond - TAIL;
        if (gone > 0)
            put(i, line, snprintf(line, sizeof line, "\n[apsis: %lld bytes left out here]\n", gone));
        if (gone >= 0)
            put(i, tails[i] + beyond % TAIL, TAIL - beyond % TAIL);
        if (beyond > 0)
            put(i, tails[i], beyond < TAIL ? beyond : beyond % TAIL);
    }
    return lost;
}
