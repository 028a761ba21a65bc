//! Money: whole micro-dollars, read and written without ever adding floats.

use crate::canon::{Number, Value};

/// How many micro-dollars a dollar has.
pub const MICROS_PER_USD: u64 = 1_000_000;

/// The decimals of a dollar that a micro-dollar is.
const DECIMALS: usize = 6;

/// Amounts from here on are refused. Below it every micro-dollar has a JSON number of its own.
const LIMIT_USD: u64 = 1_000_000_000;

/// Why something is not an amount of money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UsdError {
    /// Not digits with at most one point between them.
    #[error("must be dollars from 0 on, such as `2` or `0.25`")]
    NotAnAmount,
    /// More than six decimals that are not zero.
    #[error("must be whole micro-dollars: at most six decimals")]
    TooFine,
    /// Larger than an amount may be.
    #[error("must be less than {LIMIT_USD} dollars")]
    TooLarge,
}

/// Reads dollars as a person or a canonical number writes them: `2`, `0.25`, `1e-05`. Returns
/// micro-dollars, exactly.
pub fn parse_usd(text: &str) -> Result<u64, UsdError> {
    let (digits, exponent) = match text.split_once(['e', 'E']) {
        None => (text, 0),
        Some((digits, exponent)) => {
            let exponent = exponent.strip_prefix('-').ok_or(UsdError::NotAnAmount)?;
            // A canonical number has no longer one.
            let exponent: u16 = exponent.parse().map_err(|_| UsdError::NotAnAmount)?;
            (digits, usize::from(exponent))
        }
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !is_digits(whole) || !is_digits(fraction) {
        return Err(UsdError::NotAnAmount);
    }
    // The point moves to the left over as many digits as the exponent says.
    let all = format!("{}{whole}", "0".repeat(exponent));
    let (whole, moved) = all.split_at(all.len() - exponent);
    let decimals = format!("{moved}{fraction}");
    let (kept, rest) = decimals.split_at(decimals.len().min(DECIMALS));
    if rest.bytes().any(|byte| byte != b'0') {
        return Err(UsdError::TooFine);
    }
    let number = |text: &str| match text.trim_start_matches('0') {
        "" => Ok(0),
        digits => digits.parse::<u64>().map_err(|_| UsdError::TooLarge),
    };
    let whole = number(whole)?;
    if whole >= LIMIT_USD {
        return Err(UsdError::TooLarge);
    }
    Ok(whole * MICROS_PER_USD + number(&format!("{kept:0<DECIMALS$}"))?)
}

/// Reads dollars of a body, in micro-dollars.
pub fn usd_of(number: &Number) -> Result<u64, UsdError> {
    parse_usd(&number.to_string())
}

/// Returns micro-dollars as dollars in text: `2`, `0.25`.
pub fn show_usd(micros: u64) -> String {
    let (whole, rest) = (micros / MICROS_PER_USD, micros % MICROS_PER_USD);
    if rest == 0 {
        return whole.to_string();
    }
    let decimals = format!("{rest:0>DECIMALS$}");
    format!("{whole}.{}", decimals.trim_end_matches('0'))
}

/// Returns micro-dollars as a JSON number of dollars, exact below the highest amount that is read.
pub fn usd_value(micros: u64) -> Value {
    // So few digits are the shortest of their float, so its canonical text has the same ones.
    show_usd(micros).parse().map_or(Value::Null, Value::from_float)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dollars_are_read_exactly() {
        let read = |text: &str| parse_usd(text);
        assert_eq!(read("0"), Ok(0));
        assert_eq!(read("5"), Ok(5_000_000));
        assert_eq!(read("0.25"), Ok(250_000));
        assert_eq!(read(".5"), Ok(500_000));
        assert_eq!(read("2."), Ok(2_000_000));
        assert_eq!(read("0.000001"), Ok(1));
        assert_eq!(read("1e-06"), Ok(1));
        assert_eq!(read("1.2e-05"), Ok(12));
        assert_eq!(read("0.1000000"), Ok(100_000));
        assert_eq!(read("999999999.999999"), Ok(999_999_999_999_999));
    }

    #[test]
    fn what_is_no_amount_is_refused() {
        for bad in ["", ".", "-1", "1,5", "1e3", "e-1", "1.2.3", "$1", " 1", "1e-99999", "NaN"] {
            assert_eq!(parse_usd(bad), Err(UsdError::NotAnAmount), "{bad}");
        }
        for fine in ["0.0000001", "1e-07", "0.30000000000000004"] {
            assert_eq!(parse_usd(fine), Err(UsdError::TooFine), "{fine}");
        }
        for large in ["1000000000", "99999999999999999999999"] {
            assert_eq!(parse_usd(large), Err(UsdError::TooLarge), "{large}");
        }
    }

    proptest! {
        #[test]
        fn an_amount_comes_back_as_it_went(micros in 0..LIMIT_USD * MICROS_PER_USD) {
            prop_assert_eq!(parse_usd(&show_usd(micros)), Ok(micros));
            let Value::Number(number) = usd_value(micros) else { panic!("a number") };
            prop_assert_eq!(usd_of(&number), Ok(micros));
        }

        #[test]
        fn no_text_makes_reading_panic(text in "[0-9eE.+-]{0,24}") {
            let _ = parse_usd(&text);
        }
    }
}
