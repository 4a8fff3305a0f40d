-- a kernel: { instruction, to, from }, 1 mov, 2 cmp, 3 cmovl, 4 cmovg; the bubble sort.
return {
  { 2, 1, 2 },
  { 1, 4, 1 },
  { 4, 1, 2 },
  { 4, 2, 4 },
  { 2, 2, 3 },
  { 1, 4, 2 },
  { 4, 2, 3 },
  { 4, 3, 4 },
  { 2, 1, 2 },
  { 1, 4, 1 },
  { 4, 1, 2 },
  { 4, 2, 4 },
}
