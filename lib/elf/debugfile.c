#include "elf/debugfile.h"
