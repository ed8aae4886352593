#include "unwind/arch.h"
