/* main: what the checksum is measured with, compiled in the same way for every candidate. Ends with 1 if it is wrong. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

void crc_begin(void);
uint32_t crc32(const unsigned char *data, size_t length);

static unsigned char data[MEASURED];

__attribute__((noinline)) uint32_t measured(void)
{
    crc_begin();
    return crc32(data, sizeof data);
}

/* The same by definition. */
static uint32_t expected(const unsigned char *at, size_t length)
{
    uint32_t crc = ~(uint32_t)0;
    while (length-- > 0) {
        crc ^= *at++;
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xedb88320u ^ crc >> 1 : crc >> 1;
    }
    return ~crc;
}

int main(void)
{
    uint32_t state = 12345;
    for (size_t index = 0; index < sizeof data; index++) {
        state = state * 1664525u + 1013904223u;
        data[index] = (unsigned char)(state >> 24);
    }
    if (measured() != expected(data, sizeof data)) return 1;
    for (size_t length = 0; length < 40; length++)
        if (crc32(data + length, length) != expected(data + length, length)) return 1;
    return 0;
}
