// Debian's libpango1.0-dev, which brings Cairo's headers along: text layout and drawing behind NorrisCards, documented in
// <https://docs.gtk.org/PangoCairo/> and <https://www.cairographics.org/manual/>.
#pragma once
#include <pango/pangocairo.h>
