/* crc: the CRC-32 of zlib and PNG, bit by bit or by tables that crc_begin fills. params.h chooses which. */
#include <stddef.h>
#include <stdint.h>

#include "params.h"

static const uint32_t polynomial = 0xedb88320u;

#if BITS > 0
enum { ENTRIES = 1 << BITS, TABLES = BITS == 8 ? SLICES : 1 };
static uint32_t table[TABLES][ENTRIES];
#endif

void crc_begin(void)
{
#if BITS > 0
    for (uint32_t index = 0; index < ENTRIES; index++) {
        uint32_t value = index;
        for (int bit = 0; bit < BITS; bit++) value = value & 1 ? polynomial ^ value >> 1 : value >> 1;
        table[0][index] = value;
    }
    for (int slice = 1; slice < TABLES; slice++)
        for (uint32_t index = 0; index < ENTRIES; index++) {
            uint32_t before = table[slice - 1][index];
            table[slice][index] = before >> 8 ^ table[0][before & (ENTRIES - 1)];
        }
#endif
}

static uint32_t step(uint32_t crc, unsigned char byte)
{
    crc ^= byte;
#if BITS > 0
    for (int bits = 0; bits < 8; bits += BITS) crc = crc >> BITS ^ table[0][crc & (ENTRIES - 1)];
#else
    for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? polynomial ^ crc >> 1 : crc >> 1;
#endif
    return crc;
}

uint32_t crc32(const unsigned char *data, size_t length)
{
    uint32_t crc = ~(uint32_t)0;
#if BITS == 8 && SLICES > 1
    for (; length >= TABLES; length -= TABLES, data += TABLES) {
        uint32_t next = TABLES < 4 ? crc >> 8 * TABLES % 32 : 0;
        for (int place = 0; place < TABLES; place++) {
            uint32_t mixed = place < 4 ? crc >> 8 * place : 0;
            next ^= table[TABLES - 1 - place][(data[place] ^ mixed) & 255];
        }
        crc = next;
    }
#endif
    while (length-- > 0) crc = step(crc, *data++);
    return ~crc;
}
