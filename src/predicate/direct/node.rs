//! The tree that is evaluated. Names, patterns and the texts to search for are resolved once.

use std::sync::Arc;

use memchr::memmem::Finder;

use super::value::Value;
use crate::predicate::pattern::Pattern;

/// A part of an expression.
#[derive(Debug)]
pub(super) enum Node {
    Literal(Literal),
    Fact(FactName),
    /// The variable of a loop, counted from the outermost.
    Local(usize),
    Field(Box<Self>, Box<str>),
    Has(Box<Self>, Box<str>),
    Index(Box<[Self; 2]>),

    All(Box<[Self]>),
    Any(Box<[Self]>),
    Not(Box<Self>),
    If(Box<[Self; 3]>),

    /// A fact that is a text is, or is not, a text that is written out.
    Is(FactName, Box<str>, bool),
    /// A fact that is a text is one of those that are written out.
    IsOneOf(FactName, Box<[Box<str>]>),
    Equal(Box<[Self; 2]>, bool),
    Order(Order, Box<[Self; 2]>),
    In(Box<[Self; 2]>),
    InLiterals(Box<Self>, Box<[Literal]>),

    Negate(Box<Self>),
    Arithmetic(Arithmetic, Box<[Self; 2]>),

    Size(Box<Self>),
    OfTexts(OfTexts, Box<[Self; 2]>),
    /// `contains` of a text that is written out.
    Finds(Box<Self>, Box<Finder<'static>>),
    Matches(Box<Self>, Arc<Pattern>),

    List(Box<[Self]>),
    Map(Box<[(Self, Self)]>),
    Convert(Conversion, Box<Self>),
    TypeOf(Box<Self>),
    Trust(Trusted, Box<[Self; 2]>),
    Task(Box<Self>),
    Fanout(Box<Self>),

    Quantify(Quantifier, Box<Loop>),
    Collect(Box<Collect>),
}

/// A value that is written out.
#[derive(Debug)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(Box<str>),
    Bytes(Box<[u8]>),
    Type(&'static str),
}

impl Literal {
    pub(super) const fn value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Bool(bool) => Value::Bool(*bool),
            Self::Int(int) => Value::Int(*int),
            Self::Uint(uint) => Value::Uint(*uint),
            Self::Double(double) => Value::Double(*double),
            Self::Text(text) => Value::WrittenText(text),
            Self::Bytes(bytes) => Value::WrittenBytes(bytes),
            Self::Type(name) => Value::Type(name),
        }
    }
}

/// A fact that is there without looking into a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FactName {
    Record,
    Act,
    Actor,
    Thread,
    DataType,
    Clock,
    Parents,
    Body,
    /// `record.body.tool`, of a returned call.
    Tool,
    Args,
    Status,
    Content,
    Resource,
    System,
    CurrentActor,
    CurrentNamespace,
    Now,
    /// A list of things that there are none of.
    Nothing,
    /// What is never so.
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Less,
    AtMost,
    Greater,
    AtLeast,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// What is asked about two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OfTexts {
    Contains,
    StartsWith,
    EndsWith,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Conversion {
    Text,
    Int,
    Uint,
    Double,
    Bool,
    Bytes,
}

/// What is asked about an actor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trusted {
    Score,
    Count,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantifier {
    All,
    Exists,
    ExistsOne,
}

/// `range.all(x, body)` and its kin.
#[derive(Debug)]
pub(super) struct Loop {
    pub(super) range: Node,
    /// Which variable it sets.
    pub(super) local: usize,
    /// What a round counts.
    pub(super) units: usize,
    pub(super) body: Node,
}

/// `range.map(x, body)` and `range.filter(x, guard)`.
#[derive(Debug)]
pub(super) struct Collect {
    pub(super) each: Loop,
    /// Which elements are taken; `None` is all of them.
    pub(super) guard: Option<Node>,
}
