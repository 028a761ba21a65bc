//! A process that reaches nothing but what it was given.
