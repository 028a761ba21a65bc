//! Laws of the changes, over texts that are generated.
