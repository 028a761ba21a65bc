//! A worker's place, from inside: real processes that try to get out of it.
//!
//! What tries is this very program, started in the place with the name of one of its ignored tests
//! (`attacks`). Each try is made outside as well, where it has to succeed: a try that cannot
//! succeed shows nothing. Where this machine has no sandbox, the refusal is asserted instead.

mod attacks;
mod curtain;
mod ends;
mod holds;
mod hostile;
mod runs;
mod stand;
