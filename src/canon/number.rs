//! The number rules of the protocol (contract §1.3, rules 5 to 7).

use std::fmt;

/// A JSON number in the one form its canonical text allows.
///
/// Two numbers are equal exactly when their canonical texts are.
#[derive(Clone)]
pub struct Number(Form);

#[derive(Clone)]
enum Form {
    /// Fits `i64`.
    Int(i64),
    /// Above `i64::MAX` and fits `u64`.
    UInt(u64),
    /// A float: not integral, or integral and beyond the two above. The digits of the second kind
    /// (up to 309 of them) are made when it is written, not before.
    Float(f64),
    /// Digits of an integer that no type above holds exactly.
    Big(Box<str>),
}

/// Why a token is not a number of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BeyondFloat;

impl Number {
    /// Reads a JSON number token. A token is an integer exactly when it has no `.`, `e` or `E`.
    pub(super) fn from_token(token: &str) -> Result<Self, BeyondFloat> {
        if token.contains(['.', 'e', 'E']) {
            let float: f64 = token.parse().map_err(|_| BeyondFloat)?;
            return Self::from_f64(float).ok_or(BeyondFloat);
        }
        if let Ok(int) = token.parse::<i64>() {
            return Ok(Self(Form::Int(int)));
        }
        if let Ok(uint) = token.parse::<u64>() {
            return Ok(Self(Form::UInt(uint)));
        }
        Ok(Self(Form::Big(token.into())))
    }

    /// Returns `float` as a number, or `None` for NaN and the infinities.
    pub fn from_f64(float: f64) -> Option<Self> {
        // 2^63 and 2^64: the first floats beyond each integer type, both exact.
        const I64_END: f64 = 9_223_372_036_854_775_808.0;
        const U64_END: f64 = 18_446_744_073_709_551_616.0;
        if !float.is_finite() {
            return None;
        }
        if float.fract() != 0.0 {
            return Some(Self(Form::Float(float)));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "integral and inside the range that the guard names"
        )]
        Some(Self(match float {
            _ if (-I64_END..I64_END).contains(&float) => Form::Int(float as i64),
            _ if (I64_END..U64_END).contains(&float) => Form::UInt(float as u64),
            _ => Form::Float(float),
        }))
    }

    /// Returns the value if it fits `i64` exactly.
    pub const fn as_i64(&self) -> Option<i64> {
        match self.0 {
            Form::Int(int) => Some(int),
            _ => None,
        }
    }

    /// Returns the value if it fits `u64` exactly.
    pub const fn as_u64(&self) -> Option<u64> {
        match self.0 {
            Form::Int(int) if int >= 0 => Some(int.unsigned_abs()),
            Form::UInt(uint) => Some(uint),
            _ => None,
        }
    }

    /// Returns the value if it is a float that is not integral. An integral one is an integer
    /// here, whatever its token was.
    pub fn as_fraction(&self) -> Option<f64> {
        match self.0 {
            Form::Float(float) if float.fract() != 0.0 => Some(float),
            _ => None,
        }
    }

    /// Returns a text that tells this number from others, and is short where the canonical text of
    /// a float has hundreds of digits.
    pub(super) fn short(&self) -> String {
        match &self.0 {
            Form::Float(float) => format!("{float:e}"),
            _ => self.to_string(),
        }
    }

    /// Returns the nearest float, for arithmetic that may round.
    #[expect(clippy::cast_precision_loss, reason = "rounding is what the caller asked for")]
    pub fn to_f64(&self) -> f64 {
        match &self.0 {
            Form::Int(int) => *int as f64,
            Form::UInt(uint) => *uint as f64,
            Form::Float(float) => *float,
            Form::Big(digits) => digits.parse().unwrap_or(f64::INFINITY),
        }
    }
}

impl From<i64> for Number {
    fn from(int: i64) -> Self {
        Self(Form::Int(int))
    }
}

impl From<u64> for Number {
    fn from(uint: u64) -> Self {
        Self(i64::try_from(uint).map_or(Form::UInt(uint), Form::Int))
    }
}

/// The canonical text.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Int(int) => write!(f, "{int}"),
            Form::UInt(uint) => write!(f, "{uint}"),
            Form::Big(digits) => f.write_str(digits),
            // With a precision the digits are the exact ones of the binary value.
            Form::Float(float) if float.fract() == 0.0 => write!(f, "{float:.0}"),
            Form::Float(float) => write_fraction(*float, f),
        }
    }
}

/// Writes a float that is not integral: positional down to 1e-4, then with an exponent of at least
/// two digits. Such floats are below 2^53, so the exponent is never positive.
fn write_fraction(float: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if float.abs() >= 1e-4 {
        return write!(f, "{float}");
    }
    let text = format!("{float:e}");
    let (digits, exponent) = text.split_once("e-").unwrap_or((&text, "0"));
    write!(f, "{digits}e-{exponent:0>2}")
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Form::Int(a), Form::Int(b)) => a == b,
            (Form::UInt(a), Form::UInt(b)) => a == b,
            (Form::Float(a), Form::Float(b)) => a.to_bits() == b.to_bits(),
            (Form::Big(a), Form::Big(b)) => a == b,
            // An integral float and the digits that spell it are one number.
            (Form::Float(_), Form::Big(_)) | (Form::Big(_), Form::Float(_)) => {
                self.to_string() == other.to_string()
            }
            _ => false,
        }
    }
}

impl Eq for Number {}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(token: &str, canonical: &str) {
        let number = Number::from_token(token).expect("a number");
        assert_eq!(number.to_string(), canonical, "of {token}");
        assert_eq!(number, Number::from_token(canonical).expect("its own text"), "of {token}");
    }

    #[test]
    fn integers_keep_every_digit() {
        check("0", "0");
        check("-0", "0");
        check("-42", "-42");
        check("9223372036854775808", "9223372036854775808");
        check("18446744073709551616", "18446744073709551616");
        check("-9223372036854775809", "-9223372036854775809");
    }

    #[test]
    fn integral_floats_become_exact_integers() {
        check("1.0", "1");
        check("-0.0", "0");
        check("1e2", "100");
        check("1.5e16", "15000000000000000");
        check("1e22", "10000000000000000000000");
        check("18446744073709551616.0", "18446744073709551616");
        let number = Number::from_token("1.5e300").expect("a number").to_string();
        assert_eq!(number.len(), 301);
        assert!(number.starts_with("1500000000000000078757140382806630373056"));
    }

    #[test]
    fn fractions_are_shortest_and_have_two_digits_of_exponent() {
        check("0.0001", "0.0001");
        check("0.00001", "1e-05");
        check("2.5e-7", "2.5e-07");
        check("5e-324", "5e-324");
        check("-1.25e-10", "-1.25e-10");
        check("1000000000000000.5", "1000000000000000.5");
        check("0.3333333333333333333", "0.3333333333333333");
    }

    #[test]
    fn beyond_a_float_is_refused() {
        assert_eq!(Number::from_token("1e400"), Err(BeyondFloat));
        assert_eq!(Number::from_token("-1.5e309"), Err(BeyondFloat));
    }
}
