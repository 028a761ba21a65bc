//! An answer that is read as it comes.

use http_body_util::BodyExt as _;
use hyper::Response;
use hyper::body::Bytes;
use tokio::runtime::Runtime;

use super::transport::Body;
use crate::failure::Failure;

/// An answer that is read as it comes, so that its length does not matter.
pub(crate) struct Download<'r> {
    runtime: &'r Runtime,
    answer: Response<Body>,
}

impl<'r> Download<'r> {
    pub(super) const fn new(runtime: &'r Runtime, answer: Response<Body>) -> Self {
        Self { runtime, answer }
    }

    /// Returns a number that the head of the answer says.
    pub(crate) fn number(&self, header: &str) -> Option<u64> {
        self.answer.headers().get(header)?.to_str().ok()?.parse().ok()
    }

    /// Waits for the next bytes; `None` at the end. An answer that breaks off is a failure.
    pub(crate) fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        loop {
            let frame = self.runtime.block_on(self.answer.body_mut().frame());
            match frame.transpose() {
                Ok(None) => return Ok(None),
                Ok(Some(frame)) => {
                    if let Ok(bytes) = frame.into_data() {
                        return Ok(Some(bytes));
                    }
                }
                Err(error) => {
                    return Err(Failure::unreachable(format!("the answer was cut off: {error}")));
                }
            }
        }
    }
}
