/* The library that stubs.c calls. */
unsigned step(unsigned value)
{
	value *= value | 1;
	value *= value | 3;
	return value * 3 + 1;
}
