/* SPDX-License-Identifier: MIT */
/* filter: the system calls that no command in a cage may make (seccomp). They would pass by namespaces and Landlock:
 * - those of another calling convention (32 bits, x32), which have other numbers, and io_uring, whose operations are no
 *   system calls: all of them;
 * - add_key, request_key, keyctl: a command could link the user's keyring to its own;
 * - vsock, which no namespace holds back;
 * - those that make a user namespace, in which they would have every capability (clone3, whose flags a filter cannot
 *   read, is as if the kernel had none: libraries then use clone);
 * - those that set extended attributes, and so access lists, or the flags of `chattr`, which make every write wait for
 * the disk, say: a checkout would keep them for the next candidate. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <linux/fsverity.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cage/filter.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/* Compares the loaded value with a number. Skips `then` instructions if the comparison holds, else `otherwise`. */
#define IF(how, number, then, otherwise) BPF_JUMP(BPF_JMP | (how) | BPF_K, (number), (then), (otherwise))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define REFUSE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))

/* Without slowing what is measured: before Linux 5.16 a filter disabled speculation. */
static int filter_put(struct sock_filter *code, size_t count)
{
    struct sock_fprog program = {(unsigned short)count, code};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) == 0)
        return 0;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

int cage_filter(bool alone, bool network, bool users)
{
    enum { X32 = 0x40000000, NOTHING = 0x7fffffff, OWN = 0, SETXATTRAT = 463, FILE_SETATTR = 469 };
    struct sock_filter code[] = {
        LOAD(arch),
        IF(BPF_JEQ, ARCHITECTURE, 1, 0),
        REFUSE(ENOSYS),
        LOAD(nr),
        IF(BPF_JGE, X32, 0, 1),
        REFUSE(ENOSYS),
        IF(BPF_JGE, SYS_add_key, 0, 2),
        IF(BPF_JGT, SYS_keyctl, 1, 0),
        REFUSE(ENOSYS),
        IF(BPF_JEQ, SYS_io_uring_setup, 0, 1),
        REFUSE(ENOSYS),
        IF(BPF_JEQ, users ? NOTHING : SYS_clone3, 0, 1),
        REFUSE(ENOSYS),
        IF(BPF_JEQ, users ? NOTHING : SYS_clone, 1, 0),
        IF(BPF_JEQ, users ? NOTHING : SYS_unshare, 0, 4),
        LOAD(args[0]),
        IF(BPF_JSET, CLONE_NEWUSER, 0, 1),
        REFUSE(EPERM),
        ALLOW,
        IF(BPF_JEQ, FILE_SETATTR, 3, 0),
        IF(BPF_JEQ, SETXATTRAT, 2, 0),
        IF(BPF_JGE, SYS_setxattr, 0, 2),
        IF(BPF_JGT, SYS_fsetxattr, 1, 0),
        REFUSE(ENOTSUP),
        IF(BPF_JEQ, SYS_ioctl, 0, 7),
        LOAD(args[1]),
        IF(BPF_JEQ, FS_IOC_SETFLAGS, 4, 0),
        IF(BPF_JEQ, FS_IOC_FSSETXATTR, 3, 0),
        IF(BPF_JEQ, FS_IOC_SET_ENCRYPTION_POLICY, 2, 0),
        IF(BPF_JEQ, FS_IOC_ENABLE_VERITY, 1, 0),
        ALLOW,
        REFUSE(ENOTSUP),
        IF(BPF_JEQ, network ? NOTHING : SYS_socket, 0, 1),
        REFUSE(EACCES),
        IF(BPF_JEQ, alone ? SYS_prlimit64 : NOTHING, 0, 4),
        LOAD(args[0]),
        IF(BPF_JEQ, OWN, 1, 0),
        REFUSE(EPERM),
        ALLOW,
        IF(BPF_JEQ, SYS_socket, 0, 3),
        LOAD(args[0]),
        IF(BPF_JEQ, AF_VSOCK, 0, 1),
        REFUSE(EPERM),
        ALLOW,
    };
    return filter_put(code, sizeof code / sizeof code[0]);
}

#else

int cage_filter(bool alone, bool network, bool users)
{
    (void)alone;
    (void)users;
    errno = ENOSYS;
    return network ? 0 : -1;
}

#endif
