// Debian's zlib1g-dev, documented in zlib.h. Swift calls no function-like macros.
#pragma once
#include <zlib.h>

// Begins to inflate gzip, whose header and trailer are read too.
static inline int z_begin_gzip(z_stream *stream) { return inflateInit2(stream, 16 + MAX_WBITS); }
