---@meta apsis.text
-- apsis.text: how similar two texts are, by sketches of fixed size. A sketch is a one-permutation MinHash (Li, Owen and
-- Zhang, 2012) of the text's trigrams of tokens: 4 bits of the least hash of each of 64 buckets (b-bit MinHash: Li and
-- Koenig, 2010); empty buckets borrow from the next full one (densification: Shrivastava and Li, 2014). A token is a
-- run of letters, digits, `_` and bytes from 0x80 on, or any other byte except blanks (space, tab, CR, LF, VT, FF); the
-- amount of blank between tokens does not matter.

---@class apsis.text
local text = {}

---The sketch of a text: 64 hexadecimal digits, the same for the same bytes on every machine. Accepts any bytes,
---including NUL; texts without tokens share one sketch.
---@param s string
---@return string sketch
function text.sketch(s) end

---The estimated Jaccard similarity of the texts' trigrams, 0 to 1: the share of equal digits, corrected for chance
---(1/16). Its standard error is at most 0.07. Raises if an argument is not a sketch.
---@param a string a sketch
---@param b string a sketch
---@return number similarity
function text.similarity(a, b) end

---The mean similarity of a sketch to those of a list; nil for an empty list. Raises if the first argument is not a
---sketch, or an element is not a text of 64 bytes.
---@param sketch string
---@param sketches string[]
---@return number? similarity
function text.mean_similarity(sketch, sketches) end

return text
