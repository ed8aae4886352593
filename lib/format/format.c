#include "format/format.h"
