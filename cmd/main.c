#include "base/error.h"

int main(void)
{
	return 0;
}
