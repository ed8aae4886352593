#include "symbol/dwarf.h"
