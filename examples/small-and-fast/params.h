#define BITS 4
#define SLICES 1
