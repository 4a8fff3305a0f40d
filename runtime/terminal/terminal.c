/* SPDX-License-Identifier: MIT */
/* terminal: the mode in which a program that fills the screen reads keys. Draws nothing: what a screen shows is text,
 * which Lua writes. Called by lterminal.c. */
#define _GNU_SOURCE
#include "terminal/terminal.h"

#include <errno.h>

/* Sets a mode; a signal meanwhile is no failure. */
static int set(int fd, const struct termios *mode)
{
    int result;
    do
        result = tcsetattr(fd, TCSADRAIN, mode);
    while (result != 0 && errno == EINTR);
    return result;
}

int ap_terminal_raw(struct ap_terminal *terminal, int fd, struct ap_err *err)
{
    terminal->fd = fd;
    if (tcgetattr(fd, &terminal->before) != 0)
        return ap_err_errno(err, errno, "file descriptor %d", fd);
    struct termios mode = terminal->before;
    mode.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
    mode.c_iflag &= ~(tcflag_t)(IXON | ICRNL);
    mode.c_cc[VMIN] = 1;
    mode.c_cc[VTIME] = 0;
    if (set(fd, &mode) != 0)
        return ap_err_errno(err, errno, "the terminal's mode");
    return 0;
}

void ap_terminal_restore(const struct ap_terminal *terminal)
{
    (void)set(terminal->fd, &terminal->before);
}
