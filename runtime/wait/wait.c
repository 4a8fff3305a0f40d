/* SPDX-License-Identifier: MIT */
/* wait: poll with a monotonic deadline and the trapped signals. A handler only counts and writes to our pipe, which is
 * always in the poll set, so that a signal between the check and the poll is not lost. Owns that pipe and the handlers
 * for the life of the process. After the second signal it ends the process if nobody has done so soon, as a strategy
 * may hold it in code that nothing can stop. Does not know what it waits for. Called by lwait.c. */
#define _GNU_SOURCE
#include "wait/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/sys.h"

static int signal_pipe[2] = {-1, -1};
static volatile sig_atomic_t signal_count, signal_last, signal_row; /* row: since the program last trapped them */

enum { SOON_S = 5, INTERRUPTED = 130 };

static void on_alarm(int signal)
{
    (void)signal;
    static const char message[] =
        "apsis: ended by the second signal, as it did not end by itself. Everything journalled is "
        "safe: run again to resume.\n";
    ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
    (void)written;
    _exit(INTERRUPTED);
}

static void on_signal(int signal)
{
    int saved = errno;
    signal_count++;
    signal_last = signal;
    if (++signal_row == 2)
        alarm(SOON_S);
    ssize_t written = write(signal_pipe[1], "", 1); /* a full pipe wakes the poll as well */
    (void)written;
    errno = saved;
}

int ap_wait_signals(struct ap_err *err)
{
    if (signal_pipe[0] >= 0) {
        signal_row = 0;
        alarm(0);
        return 0;
    }
    if (pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return ap_err_errno(err, errno, "trapping signals");
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigfillset(&action.sa_mask);
    for (int i = 0; i < 3; i++)
        sigaction(signals[i], &action, NULL);
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    return 0;
}

int ap_wait_interrupts(int *last)
{
    if (last != NULL)
        *last = signal_last;
    return signal_count;
}

int ap_wait(struct pollfd *fds, int count, long long deadline_ns, struct ap_err *err)
{
    fds[count] = (struct pollfd){.fd = signal_pipe[0], .events = POLLIN}; /* a negative one is skipped */
    for (;;) {
        long long left_ns = deadline_ns < 0 ? 0 : deadline_ns - ap_sys_now_ns();
        if (left_ns < 0)
            left_ns = 0;
        struct timespec left = {left_ns / 1000000000, left_ns % 1000000000};
        int ready = ppoll(fds, (nfds_t)count + 1, deadline_ns < 0 ? NULL : &left, NULL);
        if (ready < 0 && errno == EINTR)
            continue; /* a trapped signal has filled the pipe; any other signal is ignored */
        if (ready < 0)
            return ap_err_errno(err, errno, "poll");
        if (fds[count].revents == 0)
            return ready;
        char drained[64];
        while (read(signal_pipe[0], drained, sizeof drained) > 0)
            ;
        return ready - 1;
    }
}
