//! Integration tests, in one binary so that they link once.

mod asking;
mod budgets;
mod canon;
mod code;
mod crash;
mod engine;
mod formats;
mod lab;
mod model;
mod record;
mod resume;
mod run;
mod store;
mod support;
