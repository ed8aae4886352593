#include "unit_test.h"

int main(void)
{
	return unit_tests_run();
}
