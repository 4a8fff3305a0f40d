/* SPDX-License-Identifier: MIT */
/* state: files that survive a crash: an advisory lock, an append-only journal, an atomic replacement. */
#ifndef AP_STATE_H
#define AP_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Opens one of apsis's own files: neither it nor its folder may be a link, because a cloned repository may contain any
 * links. */
int ap_state_open_own(const char *path, int flags);

/* *fd holds the lock until it is closed or the process ends in any way. Code "LOCKED" if another process holds it. */
int ap_state_lock_open(int *fd, const char *path, struct ap_err *err);
void ap_state_lock_close(int fd);

struct ap_state_journal {
    int fd;
    char *path;
    long long size; /* after the last append */
    bool broken;    /* an fsync failed: the content of the disk is unknown */
};

/* What an interrupted append left behind, cut off at open. */
struct ap_state_torn {
    long long cut_bytes;
    size_t text_length;
    char text[200];
};

/* Cuts a last line without a newline from a file of that size: an interrupted append, or the NUL bytes that a power cut
 * leaves. -1 and errno. */
int ap_state_torn_cut(int fd, struct ap_state_torn *torn, long long size);

int ap_state_journal_open(
    struct ap_state_journal *journal, struct ap_state_torn *torn, const char *path, struct ap_err *err);

/* Code "EOTHER" if the file has no name any more (an editor or `git clean` replaced or removed it), so that what is
 * appended to it would be lost: what it holds is then saved to PATH.kept. Refuses one that others changed, too. */
int ap_state_journal_check(struct ap_state_journal *journal, struct ap_err *err);

/* Checks it, then appends one line, without its newline: it is written and synced, or absent. */
int ap_state_journal_append(struct ap_state_journal *journal, const char *line, size_t length, struct ap_err *err);
int ap_state_journal_size(long long *size, struct ap_state_journal *journal, struct ap_err *err);
void ap_state_journal_close(struct ap_state_journal *journal);

/* Complete lines of a file; memory is bounded by the longest line. */
struct ap_state_lines {
    int fd;
    struct ap_buf buf;
    size_t at, scanned; /* in buf: where the next line begins; how far it was searched for a newline */
    long long number, offset;
};

struct ap_state_line {
    const char *bytes; /* valid until the next call */
    size_t length;
    long long number, offset;
};

/* From a byte offset on, at which the line of that number begins; the first is at 0 and has number 1. */
int ap_state_lines_open(
    struct ap_state_lines *lines, const char *path, long long offset, long long number, struct ap_err *err);

/* 1 and the next line, 0 at the end (a last line without a newline does not count), -1 and err. */
int ap_state_lines_next(struct ap_state_line *line, struct ap_state_lines *lines, struct ap_err *err);
void ap_state_lines_close(struct ap_state_lines *lines);

/* Afterwards the file at path has either its old content or all of bytes; with sync also after a power cut. */
int ap_state_replace(const char *path, const void *bytes, size_t count, bool sync, struct ap_err *err);

/* Makes the file with all of bytes, synced, if nothing is at path; EEXIST if something is: of several writers, on any
 * machine, the first one wins. */
int ap_state_publish(const char *path, const void *bytes, size_t count, struct ap_err *err);

/* 64 bits; if 8 bytes of the text are others, so are they. Against accidents, not against who computes another text. */
uint64_t ap_state_digest(const char *text, size_t length);

#endif
