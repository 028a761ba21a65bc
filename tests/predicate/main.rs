//! Predicates, seen from outside: cases in files, hostile input, and laws.

mod declared;
mod explained;
mod facts;
mod fixtures;
mod hostile;
mod laws;
mod lazy;
mod sets;
mod warnings;
