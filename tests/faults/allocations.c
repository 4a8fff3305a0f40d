/* SPDX-License-Identifier: MIT */
/* allocations: every Nth allocation fails once, over a script that goes through a binding. `allocations SCRIPT DIR [MODE [N]]`
 * counts what the script allocates, then runs it in a child of its own for each N from 1 on with the N-th refused: of Lua's
 * allocator (lua), of libc's and the libraries' (libc), and of Lua's so that it collects garbage there and gets it then
 * (collect). A step of the script may then end in an error that names memory, or do without; afterwards, with the state
 * closed, every byte is freed, no descriptor is open and no child is left. One line a mode; exit 1 says which N did not hold. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <lualib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/bindings.h"
#include "memory.h"

enum { LIMIT_S = 30, FDS = 256 };

static const char *const mode_names[] = {"libc", "lua", "collect"};

static const luaL_Reg modules[] = {
#define MODULE(name) {"apsis." #name, luaopen_apsis_##name},
    AP_PRIMITIVES(MODULE)
#undef MODULE
        {NULL, NULL}};

/* What a child tells, in memory that it shares. */
struct told {
    long count;
    int hit, refused_steps, finalizers, leaks, lua_bytes, fds, children, done;
    char problem[1500];
};

static struct told *told;
static int port;

static void problem(const char *what, const char *detail)
{
    size_t used = strlen(told->problem);
    snprintf(told->problem + used, sizeof told->problem - used, "%s: %s; ", what, detail);
}

static int names_memory(const char *message)
{
    return strcasestr(message, "memory") != NULL || strstr(message, "ENOMEM") != NULL ||
           strstr(message, "stack overflow (") != NULL; /* luaL_checkstack, that could not grow the stack */
}

/* Lua calls no finalizer that it lacks the memory to call: what that would have freed is lost, and it says so here. */
static void on_warning(void *self, const char *message, int more)
{
    (void)self;
    (void)more;
    if (strstr(message, "__gc") != NULL)
        told->finalizers++;
}

/* step(name, body): an error of one step is that step's alone. */
static int l_step(lua_State *L)
{
    const char *name = lua_tostring(L, 1);
    lua_settop(L, 2);
    if (lua_pcall(L, 0, 0, 0) == LUA_OK)
        return 0;
    const char *message = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "an error that is no text";
    if (memory_hit() && names_memory(message))
        told->refused_steps++;
    else
        problem(name, message);
    return 0;
}

/* A state with the script loaded: on its stack run(step, dir, port) over prepare(dir). */
static lua_State *open_state(const char *script)
{
    lua_State *L = lua_newstate(memory_lua, NULL);
    luaL_openlibs(L);
    lua_setwarnf(L, on_warning, NULL);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    luaL_setfuncs(L, modules, 0);
    lua_settop(L, 0);
    if (luaL_loadfile(L, script) != LUA_OK || lua_pcall(L, 0, 2, 0) != LUA_OK) {
        fprintf(stderr, "%s\n", lua_tostring(L, -1));
        exit(2);
    }
    lua_insert(L, 1);
    return L;
}

static int fds_open(void)
{
    int count = 0;
    for (int fd = 0; fd < FDS; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void prepare(lua_State *L, const char *dir)
{
    lua_pushvalue(L, 1);
    lua_pushstring(L, dir);
    if (!lua_isnil(L, 1) && lua_pcall(L, 1, 0, 0) != LUA_OK) {
        fprintf(stderr, "prepare: %s\n", lua_tostring(L, -1));
        exit(2);
    }
    lua_settop(L, 2);
    lua_gc(L, LUA_GCCOLLECT, 0);
}

/* The script once, under a plan. */
static void run(lua_State *L, const char *dir, const struct memory_plan *plan)
{
    lua_pushcfunction(L, l_step);
    lua_pushstring(L, dir);
    lua_pushinteger(L, port);
    memory_arm(plan);
    int status = lua_pcall(L, 3, 0, 0);
    told->count = memory_count();
    told->hit = memory_hit();
    memory_arm(NULL);
    if (status == LUA_OK)
        return;
    const char *message = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "an error that is no text";
    if (told->hit && names_memory(message))
        told->refused_steps++;
    else
        problem("script", message);
}

static void tell_leak(const struct memory_block *block)
{
    char text[1200] = "";
    snprintf(text, sizeof text, "%zu bytes", block->size);
    for (int i = 2; i < MEMORY_FRAMES && block->frames[i] != NULL; i++) {
        char **names = backtrace_symbols(&block->frames[i], 1);
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, " < %s", names != NULL ? names[0] : "?");
        free(names);
    }
    problem("not freed", text);
}

static void child(lua_State *L, const char *dir, const struct memory_plan *plan, int traced)
{
    alarm(LIMIT_S);
    prepare(L, dir);
    int fds = fds_open();
    memory_watch(traced);
    run(L, dir, plan);
    lua_close(L);
    for (size_t i = 0; memory_left(i) != NULL; i++)
        told->leaks++;
    told->lua_bytes = (int)memory_lua_bytes();
    told->fds = fds_open() - fds;
    told->children = waitpid(-1, NULL, WNOHANG) != -1;
    if (told->leaks > 0 && traced)
        tell_leak(memory_left(0));
    if (told->finalizers > 0)
        told->leaks = told->fds = told->children = 0;
    told->done = 1;
    _exit(0);
}

/* One N in a process of its own. 0 where it held; *told says what came of it. */
static int attempt(lua_State *L, const char *dir, const struct memory_plan *plan, int traced)
{
    char crash[64];
    int status;
    memset(told, 0, sizeof *told);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        child(L, dir, plan, traced);
    waitpid(pid, &status, 0);
    if (!told->done) {
        snprintf(crash, sizeof crash, "%s %d", WIFSIGNALED(status) ? "signal" : "exit",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        problem(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "hangs" : "crash", crash);
    }
    if (told->lua_bytes != 0 || told->leaks != 0 || told->fds != 0 || told->children != 0) {
        char text[128];
        snprintf(text, sizeof text, "%d block(s), %d bytes of Lua's, %d descriptor(s), %d child(ren)", told->leaks,
            told->lua_bytes, told->fds, told->children);
        problem("left", text);
    }
    return told->problem[0] != '\0';
}

/* What came of all N of a mode. */
struct tally {
    long failed, refused, did_without, leaks, crashes, wrong;
};

static void take(struct tally *tally, int wrong)
{
    tally->failed += told->hit || !told->done;
    tally->refused += told->refused_steps > 0;
    tally->did_without += told->hit && told->refused_steps == 0;
    tally->leaks += told->leaks + told->fds + told->children + (told->lua_bytes != 0);
    tally->crashes += !told->done;
    tally->wrong += wrong;
}

/* All N of a mode, each `every`-th, or one alone. How many did not hold. */
static long go_through(
    lua_State *L, const char *name, const char *dir, enum memory_mode mode, long only, long every, bool ours_only)
{
    struct memory_plan plan = {.mode = mode, .ours_only = ours_only};
    struct tally tally = {0};
    int length = (int)strcspn(name, ".");
    if (attempt(L, dir, &plan, 1)) {
        printf("%.*s %s: with nothing refused: %s\n", length, name, mode_names[mode], told->problem);
        return 1;
    }
    long last = only > 0 ? only : told->count;
    for (plan.wanted = only > 0 ? only : 1; plan.wanted <= last; plan.wanted += every) {
        int wrong = attempt(L, dir, &plan, only > 0);
        take(&tally, wrong);
        if (wrong)
            printf("allocations:%.*s:%s:%ld: %s\n", length, name, mode_names[mode], plan.wanted, told->problem);
    }
    printf("%-9.*s %-8s %7ld %8ld %8ld %6ld %8ld\n", length, name, mode_names[mode], tally.failed, tally.refused,
        tally.did_without, tally.leaks, tally.crashes);
    return tally.wrong;
}

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 5\r\n"
                             "Connection: close\r\n\r\nhello";

/* A process that answers every request on a port of the loopback in the same way, until this one ends. */
static void serve(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    char request[4096];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, size) != 0 || listen(fd, 16) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &size) != 0)
        exit(2);
    port = ntohs(at.sin_port);
    if (fork() > 0) {
        close(fd);
        return;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        int peer = accept(fd, NULL, NULL);
        ssize_t got = recv(peer, request, sizeof request, 0);
        if (got > 0 && send(peer, answer, sizeof answer - 1, MSG_NOSIGNAL) < 0)
            errno = 0;
        close(peer);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fputs("usage: allocations SCRIPT DIR [MODE [N]], EVERY in the environment\n", stderr);
        return 2;
    }
    const char *name = strrchr(argv[1], '/') != NULL ? strrchr(argv[1], '/') + 1 : argv[1], *every = getenv("EVERY");
    bool ours_only = getenv("OURS_ONLY") != NULL;
    long only = argc > 4 ? atol(argv[4]) : 0, wrong = 0;
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    setenv("TZ", "UTC0", 1); /* without it libc asks for the system's anew each time, and keeps what it reads */
    tzset();
    serve();
    lua_State *L = open_state(argv[1]); /* once before: what libraries keep for good they have then */
    prepare(L, argv[2]);
    run(L, argv[2], NULL);
    lua_close(L);
    if (told->problem[0] != '\0') {
        fprintf(stderr, "%s: %s\n", name, told->problem);
        return 1;
    }
    L = open_state(argv[1]);
    for (int mode = 0; mode < 3; mode++)
        if (argc < 4 || strcmp(argv[3], mode_names[mode]) == 0)
            wrong +=
                go_through(L, name, argv[2], (enum memory_mode)mode, only, every != NULL ? atol(every) : 1, ours_only);
    lua_close(L);
    return wrong > 0;
}
