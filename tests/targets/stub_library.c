/* What stubs.c calls. */
unsigned step(unsigned value)
{
	return value * 3 + 1;
}
