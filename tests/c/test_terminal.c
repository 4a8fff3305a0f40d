/* SPDX-License-Identifier: MIT */
/* test_terminal: the mode in which each key is read at once, on a terminal that the kernel makes, and back. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tap.h"
#include "terminal/terminal.h"

static int interrupted, refused; /* how often tcsetattr is interrupted, and refused after that */

int tcsetattr(int fd, int when, const struct termios *mode)
{
    if (interrupted > 0 || refused > 0) {
        errno = interrupted > 0 ? EINTR : EIO;
        interrupted > 0 ? interrupted-- : refused--;
        return -1;
    }
    (void)when;
    return ioctl(fd, TCSETSW, mode); /* the C library's struct begins with the kernel's */
}

static bool same(const struct termios *a, const struct termios *b)
{
    return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_cflag == b->c_cflag &&
           a->c_lflag == b->c_lflag && memcmp(a->c_cc, b->c_cc, sizeof a->c_cc) == 0;
}

static void modes(int fd)
{
    struct termios before, raw, after;
    struct ap_terminal terminal;
    struct ap_err err = {0};
    const tcflag_t lines = ICANON | ECHO | ISIG | IEXTEN, input = IXON | ICRNL;
    tcgetattr(fd, &before);
    before.c_cc[VMIN] = 7; /* what another program left */
    before.c_cc[VTIME] = 9;
    before.c_lflag |= lines;
    before.c_iflag |= input;
    ioctl(fd, TCSETSW, &before);
    tcgetattr(fd, &before);
    interrupted = 2;
    ok(ap_terminal_raw(&terminal, fd, &err) == 0 && interrupted == 0,
        "keys one by one, also if signals come meanwhile");
    tcgetattr(fd, &raw);
    ok((raw.c_lflag & lines) == 0 && raw.c_lflag == (before.c_lflag & ~lines), "no lines, no echo, no signals of keys");
    ok((raw.c_iflag & input) == 0 && raw.c_iflag == (before.c_iflag & ~input), "Enter and Ctrl-S are keys like others");
    ok(raw.c_cc[VMIN] == 1 && raw.c_cc[VTIME] == 0, "one key is enough, and is waited for");
    interrupted = 1;
    ap_terminal_restore(&terminal);
    tcgetattr(fd, &after);
    ok(same(&before, &after) && !same(&before, &raw), "then the terminal is as it was");
    refused = 1;
    ok(ap_terminal_raw(&terminal, fd, &err) == -1 && strcmp(err.code, "EIO") == 0 &&
            strncmp(err.message, "the terminal's mode: ", 21) == 0,
        "a mode that is refused is an error: %s", err.message);
}

int main(void)
{
    struct ap_terminal terminal;
    struct ap_err err = {0};
    int master = posix_openpt(O_RDWR | O_NOCTTY), ends[2];
    if (!ok(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0, "a terminal can be made"))
        return done();
    modes(open(ptsname(master), O_RDWR | O_NOCTTY));
    ok(pipe(ends) == 0 && ap_terminal_raw(&terminal, ends[0], &err) == -1 && strcmp(err.code, "ENOTTY") == 0 &&
            strncmp(err.message, "file descriptor ", 16) == 0 && atoi(err.message + 16) == ends[0],
        "a pipe is no terminal: %s", err.message);
    return done();
}
