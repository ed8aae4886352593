// The call tree of tree.c, also on fibers and with the collector.
import core.thread, core.stdc.stdlib, std.algorithm, std.array, std.conv, std.range;

pragma(inline, false) ulong leaf(ulong seed)
{
	ulong sum = seed;
	foreach (i; 0 .. 3000)
		sum = (sum + i) * 0x9e3779b97f4a7c15 ^ sum >> 29;
	return sum;
}

pragma(inline, false) ulong left(ulong seed)
{
	return leaf(seed) + 1;
}

pragma(inline, false) ulong right(ulong seed)
{
	return iota(4).map!(i => leaf(seed + i)).array.sort!((a, b) => a > b)[0] + 2;
}

pragma(inline, false) ulong outer(ulong seed)
{
	return seed % 2 ? left(seed) + 3 : right(seed) + 4;
}

void run()
{
	ulong sum;
	foreach (ulong i; 0 .. 60_000)
	{
		sum += outer(sum + i);
		if (i % 100 == 0 && Fiber.getThis)
			Fiber.yield();
	}
	if (sum == 42)
		exit(1);
}

void main()
{
	auto thread = new Thread(&run).start();
	auto fibers = [new Fiber(&run), new Fiber(&run)];
	while (fibers[0].state != Fiber.State.TERM)
		foreach (fiber; fibers)
			fiber.call();
	thread.join();
}
