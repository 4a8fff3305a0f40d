-- the marks { place } of a Golomb ruler: 2^k - 1.
return {
  { 0 },
  { 1 },
  { 3 },
  { 7 },
  { 15 },
  { 31 },
  { 63 },
  { 127 },
  { 255 },
  { 511 },
  { 1023 },
}
