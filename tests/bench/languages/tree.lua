-- The call tree of tree.c.
local bit = require("bit")
local function leaf(seed)
  local sum = seed
  for i = 1, 3000 do sum = bit.bxor(bit.tobit(sum * 31 + i), bit.rshift(sum, 29)) end
  return sum
end
local function left(seed) return leaf(seed) + 1 end
local function right(seed)
  local text = {}
  for i = 1, 20 do text[i] = tostring(leaf(seed + i)) end
  table.sort(text)
  return #table.concat(text)
end
local function outer(seed) if seed % 2 == 1 then return left(seed) + 3 end return right(seed) + 4 end
local sum = 0
for i = 1, 60000 do sum = sum + outer(i) end
print(sum)
