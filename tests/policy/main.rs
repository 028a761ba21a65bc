//! Policy hooks, with real settings files and real shells.

mod runs;
