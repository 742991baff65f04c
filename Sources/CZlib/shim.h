// Debian's zlib1g-dev, documented in zlib.h. Swift calls no function-like macros.
#pragma once
#include <zlib.h>

// For gzip with its head and trailer.
static inline int z_begin_gzip(z_stream *stream) { return inflateInit2(stream, 16 + MAX_WBITS); }
