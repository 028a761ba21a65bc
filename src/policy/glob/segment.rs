//! What stands between two slashes of a pattern.

use super::GlobError;

/// The most lists inside each other.
const DEPTH: usize = 8;

/// A piece of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// This character.
    Char(char),
    /// `?`
    One,
    /// `*`
    Star,
    /// `[a-c]`
    Class(Class),
    /// `@(a|b)` and its like.
    List(Kind, Vec<Vec<Piece>>),
}

/// What a list in round brackets stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `@`: one of them.
    One,
    /// `?`: one of them, or nothing.
    Maybe,
    /// `*`: any number of them.
    Any,
    /// `+`: at least one of them.
    Some,
    /// `!`: none of them.
    Not,
}

/// Characters, of which one is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Class {
    negated: bool,
    ranges: Vec<(char, char)>,
    named: Vec<Named>,
}

/// `[:alpha:]` and its like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Alnum,
    Alpha,
    Ascii,
    Blank,
    Cntrl,
    Digit,
    Graph,
    Lower,
    Print,
    Punct,
    Space,
    Upper,
    Word,
    Xdigit,
}

impl Class {
    pub(super) fn has(&self, c: char) -> bool {
        let within = self.ranges.iter().any(|&(from, to)| (from..=to).contains(&c));
        (within || self.named.iter().any(|named| named.has(c))) != self.negated
    }
}

impl Named {
    const ALL: [(&'static str, Self); 14] = [
        ("alnum", Self::Alnum),
        ("alpha", Self::Alpha),
        ("ascii", Self::Ascii),
        ("blank", Self::Blank),
        ("cntrl", Self::Cntrl),
        ("digit", Self::Digit),
        ("graph", Self::Graph),
        ("lower", Self::Lower),
        ("print", Self::Print),
        ("punct", Self::Punct),
        ("space", Self::Space),
        ("upper", Self::Upper),
        ("word", Self::Word),
        ("xdigit", Self::Xdigit),
    ];

    fn has(self, c: char) -> bool {
        match self {
            Self::Alnum => c.is_alphanumeric(),
            Self::Alpha => c.is_alphabetic(),
            Self::Ascii => c.is_ascii(),
            Self::Blank => c == '\t' || (c.is_whitespace() && !c.is_control()),
            Self::Cntrl => c.is_control(),
            Self::Digit => c.is_numeric(),
            Self::Graph => !c.is_whitespace() && !c.is_control(),
            Self::Lower => c.is_lowercase(),
            Self::Print => !c.is_control(),
            Self::Punct => c.is_ascii_punctuation() && !"$+<=>^`|~".contains(c),
            Self::Space => c.is_whitespace(),
            Self::Upper => c.is_uppercase(),
            Self::Word => c.is_alphanumeric() || c == '_',
            Self::Xdigit => c.is_ascii_hexdigit(),
        }
    }
}

/// Reads the pieces of a pattern without slashes and braces.
pub(super) fn read(text: &str) -> Result<Vec<Piece>, GlobError> {
    let chars: Vec<char> = text.chars().collect();
    let mut reader = Reader { chars: &chars, at: 0, lists: true };
    match reader.pieces(0)?.as_slice() {
        // A list of nothing is no list.
        [Piece::List(kind, of)] if *kind != Kind::Not && of == &[Vec::new()] => {
            Ok(chars.into_iter().map(Piece::Char).collect())
        }
        pieces => Ok(pieces.to_vec()),
    }
}

/// Returns the one name that is meant, if it is one.
pub(super) fn as_name(pieces: &[Piece]) -> Option<String> {
    let chars = pieces.iter().map(|piece| match piece {
        Piece::Char(c) => Some(*c),
        _ => None,
    });
    chars.collect()
}

/// Characters of ASCII, each a bit.
pub(super) const EVERY: u128 = u128::MAX;

/// Returns the characters of ASCII with which a name may begin that matches, and whether it may be
/// empty.
pub(super) fn firsts(pieces: &[Piece]) -> (u128, bool) {
    let mut set = 0;
    for piece in pieces {
        let (own, may_be_empty) = match piece {
            Piece::Char(c) => (bit(*c), false),
            Piece::Class(class) => {
                let ascii = (0..=127_u8).map(char::from).filter(|c| class.has(*c));
                (ascii.fold(0, |set, c| set | bit(c)), false)
            }
            Piece::One => (EVERY, false),
            Piece::Star | Piece::List(Kind::Not, _) => (EVERY, true),
            Piece::List(kind, alternatives) => alternatives.iter().map(|it| firsts(it)).fold(
                (0, matches!(kind, Kind::Maybe | Kind::Any)),
                |(set, empty), (own, may_be)| (set | own, empty || may_be),
            ),
        };
        set |= own;
        if !may_be_empty {
            return (set, false);
        }
    }
    (set, true)
}

/// Returns the bit of a character, if it is of ASCII.
pub(super) fn bit(c: char) -> u128 {
    if c.is_ascii() { 1 << u32::from(c) } else { 0 }
}

struct Reader<'a> {
    chars: &'a [char],
    at: usize,
    /// Whether round brackets may still be lists: one that nothing closes is a character, and so
    /// are all that stand in it.
    lists: bool,
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    /// Reads to the end, or to where the list that it stands in goes on.
    fn pieces(&mut self, depth: usize) -> Result<Vec<Piece>, GlobError> {
        let mut pieces = Vec::new();
        while let Some(c) = self.peek(0) {
            if depth > 0 && (c == '|' || c == ')') {
                break;
            }
            if let Some(list) = self.list(c, depth)? {
                pieces.push(list);
                continue;
            }
            self.at += 1;
            match c {
                '\\' => {
                    let meant = self.peek(0);
                    self.at += usize::from(meant.is_some());
                    pieces.push(Piece::Char(meant.unwrap_or('\\')));
                }
                '?' => pieces.push(Piece::One),
                // Several are one.
                '*' if pieces.last() == Some(&Piece::Star) => {}
                '*' => pieces.push(Piece::Star),
                '[' => match class(self.chars.get(self.at..).unwrap_or_default()) {
                    Some((piece, len)) => {
                        pieces.push(piece);
                        self.at += len;
                    }
                    None => pieces.push(Piece::Char('[')),
                },
                c => pieces.push(Piece::Char(c)),
            }
        }
        Ok(pieces)
    }

    /// Reads a list, if one begins here with `c`.
    fn list(&mut self, c: char, depth: usize) -> Result<Option<Piece>, GlobError> {
        let kind = match c {
            '@' => Kind::One,
            '?' => Kind::Maybe,
            '*' => Kind::Any,
            '+' => Kind::Some,
            '!' => Kind::Not,
            _ => return Ok(None),
        };
        if !self.lists || self.peek(1) != Some('(') {
            return Ok(None);
        }
        if depth == DEPTH {
            return Err(GlobError::TooComplex);
        }
        let from = self.at;
        self.at += 2;
        let mut alternatives = Vec::new();
        loop {
            alternatives.push(self.pieces(depth + 1)?);
            let ended = self.peek(0);
            self.at += 1;
            match ended {
                Some('|') => {}
                Some(_) => return Ok(Some(Piece::List(kind, alternatives))),
                None => {
                    (self.at, self.lists) = (from, false);
                    return Ok(None);
                }
            }
        }
    }
}

/// Reads a class after its `[`, and how long it is; without a `]` it is none.
fn class(rest: &[char]) -> Option<(Piece, usize)> {
    let mut class = Class { negated: false, ranges: Vec::new(), named: Vec::new() };
    let mut at = 0;
    if let Some('!' | '^') = rest.first() {
        class.negated = true;
        at = 1;
    }
    let first = at;
    // The start of a range that is not yet over.
    let mut from: Option<char> = None;
    loop {
        let c = *rest.get(at)?;
        if c == ']' && at > first {
            break;
        }
        if let Some((named, len)) = named(rest.get(at..)?) {
            class.named.push(named);
            at += len;
            from = None;
            continue;
        }
        at += 1;
        let c = if c == '\\' {
            at += 1;
            *rest.get(at - 1)?
        } else {
            c
        };
        if let Some(start) = from.take() {
            // One that goes backwards holds nothing.
            class.ranges.push((start, c));
        } else if rest.get(at) == Some(&'-') && rest.get(at + 1).is_some_and(|it| *it != ']') {
            from = Some(c);
            at += 1;
        } else {
            class.ranges.push((c, c));
        }
    }
    let piece = match class.ranges.as_slice() {
        [(one, same)] if one == same && !class.negated && class.named.is_empty() => {
            Piece::Char(*one)
        }
        _ => Piece::Class(class),
    };
    Some((piece, at + 1))
}

fn named(rest: &[char]) -> Option<(Named, usize)> {
    let rest: String = rest.iter().take(12).collect();
    let rest = rest.strip_prefix("[:")?;
    let (_, named) = Named::ALL
        .iter()
        .find(|(name, _)| rest.strip_prefix(name).is_some_and(|rest| rest.starts_with(":]")))?;
    let name = rest.split_once(":]")?.0;
    Some((*named, name.len() + 4))
}
