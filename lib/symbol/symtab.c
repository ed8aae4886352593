#include "symbol/symtab.h"
