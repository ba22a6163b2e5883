// A Windows header under the name by which Snappy includes it, for case-sensitive file systems.
#pragma once

#include <basetsd.h>
