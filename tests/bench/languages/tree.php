<?php // The call tree of tree.c.
function leaf($seed) {
	$sum = $seed;
	for ($i = 0; $i < 300; $i++)
		$sum = (($sum + $i) * 40503 ^ $sum >> 13) & 0xffffffff;
	return $sum;
}
function left($seed) { return leaf($seed) + 1; }
function right($seed) { return array_sum(array_map('leaf', [$seed, $seed + 1])) + 2; }
function outer($seed) { return $seed % 2 ? left($seed) + 3 : right($seed) + 4; }
$sum = 0;
for ($i = 0; $i < 200000; $i++)
	$sum += outer($i);
echo $sum, "\n";
