#include "symbol/kallsyms.h"
