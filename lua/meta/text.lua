---@meta apsis.text
-- apsis.text: how alike two texts are, by sketches of fixed size. A sketch is a one-permutation MinHash (Li, Owen and Zhang, 2012)
-- of the text's trigrams of tokens: 64 buckets, of each the least hash, of that 4 bits (b-bit MinHash: Li and Koenig, 2010); empty
-- buckets borrow from the next full one (densification: Shrivastava and Li, 2014). A token is a run of letters, digits, `_` and
-- bytes from 0x80 on, or any other byte that is no blank (space, tab, CR, LF, VT, FF); how much blank stands between is no matter.

---@class apsis.text
local text = {}

---The sketch of a text: 64 hexadecimal digits, the same for the same bytes on every machine. Any bytes, NUL too; a text without a
---token has a sketch of its own.
---@param s string
---@return string sketch
function text.sketch(s) end

---The estimated Jaccard similarity of the texts' trigrams, 0 to 1: the share of equal digits, less what chance gives (1/16). Its
---standard error is at most 0.07. Raises where an argument is no sketch.
---@param a string a sketch
---@param b string a sketch
---@return number similarity
function text.similarity(a, b) end

---The mean similarity of a sketch to those of a list; nil for an empty list. Raises where one is no sketch, or the list holds
---anything but texts of 64 bytes.
---@param sketch string
---@param sketches string[]
---@return number? similarity
function text.mean_similarity(sketch, sketches) end

return text
