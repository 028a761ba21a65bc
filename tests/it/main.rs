//! Integration tests, in one binary so that they link once.

mod canon;
mod record;
mod store;
mod support;
