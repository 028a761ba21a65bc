//! A server as a process of its own: under load, and with secrets planted all around it.

mod canary;
mod house;
mod load;
mod places;
mod watcher;
