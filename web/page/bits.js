// Sets of small numbers as bits of 32-bit words.

export const bitSet = (count) => new Uint32Array((count >>> 5) + 1);

export function setBit(bits, number) {
  bits[number >>> 5] |= 1 << (number & 31);
}

// Returns the number of bits that are set in a word.
export function bitCount(word) {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

// Returns the numbers whose bits are set, in ascending order.
export function numbersOf(bits) {
  let count = 0;
  for (let word = 0; word < bits.length; word++) count += bitCount(bits[word]);
  const numbers = new Uint32Array(count);
  for (let word = 0, i = 0; word < bits.length; word++)
    for (let left = bits[word]; left; left &= left - 1) numbers[i++] = word * 32 + 31 - Math.clz32(left & -left);
  return numbers;
}
