//! Models that are asked over the network, against a real server that speaks all three formats.

mod answers;
mod faults;
mod runs;
mod support;
mod wire;
