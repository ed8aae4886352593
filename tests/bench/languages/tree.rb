# The call tree of tree.c.
def leaf(seed)
  (0...300).inject(seed) { |sum, i| ((sum + i) * 40503 ^ sum >> 13) & 0xffffffff }
end
def left(seed) = leaf(seed) + 1
def right(seed) = [seed, seed + 1].map { |s| leaf(s) }.sum + 2
def outer(seed) = seed.odd? ? left(seed) + 3 : right(seed) + 4
puts (1..60_000).sum { |i| outer(i) }
