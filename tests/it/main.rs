//! Integration tests, in one binary so that they link once.

mod accounts;
mod asking;
mod blueprint;
mod budgets;
mod canon;
mod captured;
mod code;
mod crash;
mod decisions;
mod engine;
mod formats;
mod lab;
mod model;
mod namespaces;
mod observe;
mod permit;
mod record;
mod requests;
mod resume;
mod review;
mod run;
mod starter;
mod store;
mod support;
