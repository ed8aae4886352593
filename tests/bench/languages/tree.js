// The call tree of tree.c.
function leaf(seed) {
	let sum = seed;
	for (let i = 0; i < 3000; i++)
		sum = Math.imul(sum + i, 0x9e3779b9) ^ (sum >>> 29);
	return sum;
}
const left = (seed) => leaf(seed) + 1;
const right = (seed) => [seed, seed + 1, seed + 2].map(leaf).sort((a, b) => a - b)[0] + 2;
const outer = (seed) => (seed % 2 ? left(seed) + 3 : right(seed) + 4);
let sum = 0;
for (let i = 0; i < 200000; i++) {
	sum += outer(i);
	if (i % 100 === 0)
		sum += JSON.stringify(new Array(200).fill(i)).replace(/1+/g, "x").length;
}
console.log(sum);
