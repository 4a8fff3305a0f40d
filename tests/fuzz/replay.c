/* SPDX-License-Identifier: MIT */
/* replay: a fuzz target's committed corpus as an ordinary test: replay_NAME runs tests/fuzz/corpus/NAME, one TAP line per input. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../c/tap.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void replay(const char *directory, const char *name)
{
    char path[8192];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    if (!ok(file != NULL, "%s opens", name))
        return;
    uint8_t *bytes = malloc(1 << 20);
    size_t size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    bytes = realloc(bytes, size > 0 ? size : 1); /* so that a read past the end is seen */
    LLVMFuzzerTestOneInput(bytes, size);
    ok(1, "%s runs through", name);
    free(bytes);
}

int main(int argc, char **argv)
{
    (void)argc;
    const char *name = strrchr(argv[0], '/');
    name = strstr(name != NULL ? name : argv[0], "fuzz_");
    char directory[4096];
    snprintf(directory, sizeof directory, "tests/fuzz/corpus/%s", name != NULL ? name : "");
    struct dirent **entries;
    int count = scandir(directory, &entries, NULL, alphasort);
    ok(count >= 2 + 5, "%s has at least five inputs", directory);
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.')
            replay(directory, entries[i]->d_name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return done();
}
