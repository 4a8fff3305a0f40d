/* SPDX-License-Identifier: MIT */
/* test_crowd: orders, places and evictions against a plain model that looks at everybody each time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "crowd.h"
#include "tap.h"

enum { MOST = 4000, ISLANDS = 3, BOUND = 600, ELITES = 40 };

struct one {
    double score;
    uint64_t key, mask;
    int order;
};

static struct one model[MOST];
static uint32_t order_of[MOST]; /* slots, best first */
static unsigned seed = 7;

static unsigned draw(unsigned below)
{
    seed = seed * 1103515245 + 12345;
    return seed / 65536 % below;
}

static int compare(const void *a, const void *b)
{
    const struct one *x = &model[*(const uint32_t *)a], *y = &model[*(const uint32_t *)b];
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->order > y->order ? -1 : 1;
}

/* The slots of an island (0: all), best first. */
static size_t sorted(uint32_t island)
{
    size_t count = 0;
    for (uint32_t slot = 0; slot < MOST; slot++)
        if (model[slot].mask != 0 && (island == 0 || model[slot].mask >> island & 1))
            order_of[count++] = slot;
    qsort(order_of, count, sizeof *order_of, compare);
    return count;
}

/* Whether the bests of an island (0: all) are the first of every key among those with a score; of equals that of the first island. */
static bool bests_agree(const struct ap_crowd *crowd, uint32_t island)
{
    static struct ap_crowd_best bests[MOST];
    if (ap_crowd_bests_room(crowd, island) > MOST)
        return false;
    size_t count = ap_crowd_bests(bests, crowd, island), found = 0;
    for (uint64_t key = 0; key < 16; key++) {
        double best = -INFINITY;
        for (uint32_t slot = 0; slot < MOST; slot++) {
            const struct one *one = &model[slot];
            if (one->key == key && one->score > best && (island == 0 ? one->mask != 0 : one->mask >> island & 1))
                best = one->score;
        }
        if (best == -INFINITY)
            continue;
        if (found >= count || bests[found].key != key || model[bests[found].slot].score != best ||
            model[bests[found].slot].key != key || !(model[bests[found].slot].mask >> bests[found].island & 1))
            return false;
        for (uint32_t first = 1; island == 0 && first < bests[found].island; first++)
            for (uint32_t slot = 0; slot < MOST; slot++)
                if (model[slot].key == key && model[slot].mask >> first & 1 && model[slot].score == best)
                    return false;
        found++;
    }
    return found == count;
}

static bool agrees(const struct ap_crowd *crowd)
{
    for (uint32_t island = 0; island <= ISLANDS; island++) {
        size_t count = sorted(island), scored = 0;
        if (ap_crowd_count(crowd, island) != count)
            return false;
        for (size_t i = 0; i < count; i++) {
            scored += model[order_of[i]].score != -INFINITY;
            if (ap_crowd_at(crowd, island, i) != order_of[i])
                return false;
        }
        if (ap_crowd_scored(crowd, island) != scored || !bests_agree(crowd, island))
            return false;
        for (size_t i = 0; island > 0 && i < ap_crowd_filled(crowd, island); i++) {
            uint32_t slot;
            uint64_t key;
            ap_crowd_best_at(&slot, &key, crowd, island, i);
            for (size_t k = 0; k < count; k++)
                if (model[order_of[k]].key == key) {
                    if (order_of[k] != slot)
                        return false;
                    break;
                }
        }
    }
    return true;
}

/* Whether it was right that this one went: no elite, no best, and the worst such of a place than which none is fuller. */
static bool just(uint32_t gone)
{
    size_t count = sorted(0), place_size[ISLANDS + 1][16] = {{0}}, most = 0;
    uint32_t victim[ISLANDS + 1][16];
    bool has_best[ISLANDS + 1][16] = {{0}}, is_best[MOST] = {0};
    memset(victim, 0xff, sizeof victim);
    for (size_t i = 0; i < count; i++)
        for (uint32_t island = 1; island <= ISLANDS; island++) {
            struct one *one = &model[order_of[i]];
            if (!(one->mask >> island & 1))
                continue;
            place_size[island][one->key]++;
            if (!has_best[island][one->key] && one->score != -INFINITY)
                has_best[island][one->key] = is_best[order_of[i]] = true;
        }
    for (size_t i = 0; i < count; i++)
        for (uint32_t island = 1; island <= ISLANDS; island++) {
            struct one *one = &model[order_of[i]];
            bool elite = i < ELITES && one->score != -INFINITY;
            if ((one->mask >> island & 1) && !elite && !is_best[order_of[i]])
                victim[island][one->key] = order_of[i];
        }
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t island = 1; island <= ISLANDS; island++)
            for (int key = 0; key < 16; key++)
                if (victim[island][key] != UINT32_MAX) {
                    if (pass == 0 && place_size[island][key] > most)
                        most = place_size[island][key];
                    if (pass == 1 && place_size[island][key] == most && victim[island][key] == gone)
                        return true;
                }
    return false;
}

static bool refile(struct ap_crowd *crowd)
{
    static uint64_t keys[MOST];
    for (uint32_t slot = 0; slot < MOST; slot++)
        keys[slot] = model[slot].key = draw(16);
    return ap_crowd_refile(crowd, keys, NULL) == 0;
}

static bool migrate(struct ap_crowd *crowd)
{
    for (uint32_t slot = 0; slot < MOST; slot++) {
        uint32_t island = 1 + draw(ISLANDS);
        bool copied;
        if (model[slot].mask == 0 || draw(10) != 0)
            continue;
        if (ap_crowd_copy(&copied, crowd, slot, island, NULL) != 0 || copied == (model[slot].mask >> island & 1))
            return false;
        model[slot].mask |= (uint64_t)1 << island;
    }
    return true;
}

static void live(struct ap_crowd *crowd)
{
    bool added = true, moved = true, judged = true, same = true;
    for (int turn = 1; turn <= 6000; turn++) {
        uint32_t slot, island = 1 + draw(ISLANDS);
        double score = draw(12) == 0 ? -INFINITY : (double)draw(300) + turn / 100;
        uint64_t key = draw(draw(2) ? 16 : 3);
        added &= ap_crowd_add(&slot, crowd, island, score, key, NULL) == 0 && slot < MOST && model[slot].mask == 0;
        model[slot] = (struct one){.score = score, .key = key, .mask = (uint64_t)1 << island, .order = turn};
        if (turn % 1000 == 0)
            moved &= refile(crowd) && migrate(crowd);
        struct ap_crowd_gone gone;
        while (ap_crowd_evict(&gone, crowd)) {
            judged &= turn % 50 != 0 || just(gone.slot);
            judged &= gone.key == model[gone.slot].key;
            model[gone.slot].mask = 0;
        }
        if (turn % 250 == 0)
            same &= agrees(crowd) && ap_crowd_excess(crowd) == 0;
    }
    ok(added, "6000 come in, each into a free slot");
    ok(moved, "copies go where they were not, and all are filed anew");
    ok(judged, "who goes is the worst of a most crowded place, no elite and no best");
    ok(same, "orders, counts and bests are the model's");
}

int main(void)
{
    struct ap_crowd *crowd;
    struct ap_err err = {0};
    uint32_t island, slot;
    struct ap_crowd_gone gone;
    ok(ap_crowd_open(&crowd, BOUND, ELITES, &err) == 0, "opens");
    for (uint32_t i = 1; i <= ISLANDS; i++)
        ok(ap_crowd_island(&island, crowd, &err) == 0 && island == i, "island %u", i);
    ok(!ap_crowd_evict(&gone, crowd), "nobody goes where nobody is");
    live(crowd);
    ap_crowd_close(crowd);

    ok(ap_crowd_open(&crowd, 1, 1, &err) == 0 && ap_crowd_island(&island, crowd, &err) == 0, "a small one");
    ok(ap_crowd_add(&slot, crowd, 1, 1, 1, &err) == 0 && ap_crowd_add(&slot, crowd, 1, 2, 2, &err) == 0 &&
            !ap_crowd_evict(&gone, crowd) && ap_crowd_excess(crowd) == 1,
        "bests of places stay, above the bound");
    ok(ap_crowd_add(&slot, crowd, 1, -INFINITY, 3, &err) == 0 && ap_crowd_evict(&gone, crowd) && gone.slot == slot,
        "one without a score is nobody's best");
    int made = 1;
    while (ap_crowd_island(&island, crowd, &err) == 0)
        made++;
    ok(made == AP_CROWD_ISLANDS && strcmp(err.code, "EISLAND") == 0, "islands end at %d", made);
    ap_crowd_close(crowd);
    ap_crowd_close(NULL);
    return done();
}
