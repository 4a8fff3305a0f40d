/* SPDX-License-Identifier: MIT */
/* test_wait: deadlines, readiness and trapped signals. */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "tap.h"
#include "base/sys.h"
#include "wait/wait.h"

static void on_alarm(int signal)
{
    (void)signal;
}

int main(void)
{
    struct ap_err err = {0};
    struct pollfd fds[2];
    int pair[2], last = -1;
    if (pipe(pair) != 0)
        return 1;

    fds[0] = (struct pollfd){.fd = pair[0], .events = POLLIN};
    ok(ap_wait(fds, 1, 0, &err) == 0, "a deadline in the past polls once and returns");
    long long until_ns = ap_sys_now_ns() + 2000000;
    ok(ap_wait(fds, 1, until_ns, &err) == 0 && ap_sys_now_ns() >= until_ns,
        "nothing ready: waits until the deadline, not less");
    ok(write(pair[1], "x", 1) == 1 && ap_wait(fds, 1, -1, &err) == 1 && fds[0].revents == POLLIN,
        "a ready descriptor ends the wait");
    ok(read(pair[0], &(char){0}, 1) == 1, "the byte is still there");

    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval soon = {.it_value = {0, 1000}, .it_interval = {0, 1000}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    until_ns = ap_sys_now_ns() + 20000000;
    ok(ap_wait(fds, 1, until_ns, &err) == 0 && ap_sys_now_ns() >= until_ns,
        "a signal that is not trapped does not end a wait");
    setitimer(ITIMER_REAL, &never, NULL);

    ok(ap_wait_signals(&err) == 0 && ap_wait_signals(&err) == 0, "trapping twice is trapping once");
    ok(ap_wait_interrupts(&last) == 0 && last == 0, "no interrupt yet");
    raise(SIGINT);
    ok(ap_wait(fds, 1, -1, &err) == 0, "a signal that came before the wait ends it");
    ok(ap_wait_interrupts(&last) == 1 && last == SIGINT, "it is counted and named");
    ok(ap_wait(fds, 1, 0, &err) == 0, "and ends one wait only");
    for (int i = 0; i < 100000; i++)
        raise(i % 2 ? SIGTERM : SIGHUP);
    ok(ap_wait_interrupts(&last) == 100001 && last == SIGTERM, "a hundred thousand signals do not block on the pipe");
    ok(ap_wait(fds, 1, -1, &err) == 0 && ap_wait(fds, 1, ap_sys_now_ns() + 1000000, &err) == 0, "and are drained");
    raise(SIGPIPE);
    ok(1, "SIGPIPE is ignored");
    raise(SIGINT);
    ok(write(pair[1], "x", 1) == 1 && ap_wait(fds, 1, -1, &err) == 1, "a signal does not count as a ready descriptor");
    close(pair[1]);
    close(pair[0]);
    fds[0].fd = -1;
    ok(ap_wait(fds, 1, 0, &err) == 0, "negative descriptors are skipped");
    return done();
}
