//! Integration tests, in one binary so that they link once.

mod asking;
mod budgets;
mod canon;
mod captured;
mod code;
mod crash;
mod decisions;
mod engine;
mod formats;
mod keys;
mod lab;
mod model;
mod observe;
mod permit;
mod proof;
mod record;
mod resume;
mod review;
mod run;
mod signed;
mod store;
mod support;
mod tamper;
