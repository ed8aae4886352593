# The call tree of tree.c.
proc leaf(seed: uint64): uint64 {.noinline.} =
  result = seed
  for i in 0'u64 ..< 3000'u64:
    result = (result + i) * 0x9e3779b97f4a7c15'u64 xor (result shr 29)

proc left(seed: uint64): uint64 {.noinline.} = leaf(seed) + 1
proc right(seed: uint64): uint64 {.noinline.} =
  var text = ""
  for i in 0 ..< 20: text.add($leaf(seed + uint64(i)))
  uint64(text.len)
proc outer(seed: uint64): uint64 {.noinline.} =
  if seed mod 2 == 1: left(seed) + 3 else: right(seed) + 4

var sum: uint64
for i in 0'u64 ..< 60_000'u64: sum += outer(i)
echo sum
