//! The process that a harness starts for each event: what goes in, what comes out, and that nothing
//! gets in a harness's way, whatever is wrong here.

mod crowd;
mod house;
mod line;
mod malformed;
mod output;
mod policy;
mod refused;
mod server;
