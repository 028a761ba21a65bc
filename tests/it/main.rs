//! Integration tests, in one binary so that they link once.

mod canon;
mod code;
mod crash;
mod engine;
mod formats;
mod model;
mod permit;
mod record;
mod review;
mod run;
mod store;
mod support;
