//! Choices, read off bytes: what is generated from the same bytes is the same.

/// Bytes that decide. When they are used up, everything is the first choice.
pub struct Choices<'b> {
    rest: &'b [u8],
}

impl<'b> Choices<'b> {
    /// Returns the choices that `bytes` are.
    pub const fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Tells whether nothing is left to decide with.
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns a number below `end`, which is at most 256.
    pub fn below(&mut self, end: usize) -> usize {
        let Some((first, rest)) = self.rest.split_first() else { return 0 };
        self.rest = rest;
        usize::from(*first) % end.max(1)
    }

    /// Returns one of `from`, which is not empty.
    pub fn of<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}
