//! `{a,b}` and `{1..3}`: one pattern that stands for several.

use super::GlobError;

/// Returns the patterns that `pattern` stands for, of which there are at most `most`.
pub(super) fn expand(pattern: &str, most: usize) -> Result<Vec<String>, GlobError> {
    let chars: Vec<char> = pattern.chars().collect();
    // `{}` in front is a word of shells, and no list.
    let skip = if pattern.starts_with("{}") { 2 } else { 0 };
    Ok(expanded(&chars, skip, most)?.into_iter().map(String::from_iter).collect())
}

type Text = Vec<char>;

fn expanded(pattern: &[char], skip: usize, most: usize) -> Result<Vec<Text>, GlobError> {
    let Some((open, close)) = first_pair(pattern, skip) else { return Ok(vec![pattern.to_vec()]) };
    let (Some(before), Some(body), Some(after)) =
        (pattern.get(..open), pattern.get(open + 1..close), pattern.get(close + 1..))
    else {
        return Ok(vec![pattern.to_vec()]);
    };
    let middles = if before.ends_with(&['$']) {
        vec![braced(body)]
    } else if let Some(range) = range(body, most)? {
        range
    } else {
        match options(body).as_slice() {
            [_] if closes_later(after) => {
                // `{a},b}` is a list of `a}` and `b`.
                let mut pattern = pattern.to_vec();
                pattern.insert(close, '\\');
                return expanded(&pattern, skip, most);
            }
            [only] => expanded(only, 0, most)?.iter().map(|it| braced(it)).collect(),
            several => {
                let mut middles = Vec::new();
                for option in several {
                    middles.extend(expanded(option, 0, most)?);
                    bounded(middles.len(), most)?;
                }
                middles
            }
        }
    };
    let ends = expanded(after, 0, most)?;
    bounded(middles.len().saturating_mul(ends.len()), most)?;
    let whole = |middle: &Text, end: &Text| [before, middle.as_slice(), end.as_slice()].concat();
    Ok(middles.iter().flat_map(|middle| ends.iter().map(move |end| whole(middle, end))).collect())
}

const fn bounded(count: usize, most: usize) -> Result<(), GlobError> {
    if count > most { Err(GlobError::TooComplex) } else { Ok(()) }
}

fn braced(body: &[char]) -> Text {
    [&['{'], body, &['}']].concat()
}

/// Walks over characters that stand for themselves and for something else, and passes over those
/// that a `\` takes their meaning.
fn meaning(pattern: &[char]) -> impl Iterator<Item = (usize, char)> {
    let mut escaped = false;
    pattern.iter().copied().enumerate().filter(move |&(_, c)| {
        let here = escaped;
        escaped = !escaped && c == '\\';
        !here && c != '\\'
    })
}

/// Returns where the first braces are that belong together.
fn first_pair(pattern: &[char], skip: usize) -> Option<(usize, usize)> {
    let mut open = Vec::new();
    let mut first: Option<(usize, usize)> = None;
    for (at, c) in meaning(pattern).filter(|(at, _)| *at >= skip) {
        match c {
            '{' => open.push(at),
            '}' => {
                if let Some(from) = open.pop() {
                    first = first.filter(|(other, _)| *other < from).or(Some((from, at)));
                }
                if open.is_empty() && first.is_some() {
                    break;
                }
            }
            _ => {}
        }
    }
    first
}

/// Returns whether there is a comma, and a brace that closes somewhere behind it.
fn closes_later(after: &[char]) -> bool {
    let mut comma = false;
    meaning(after).any(|(_, c)| {
        comma |= c == ',';
        comma && c == '}'
    })
}

/// Splits at the commas that are in no braces of their own.
fn options(body: &[char]) -> Vec<&[char]> {
    let mut depth = 0_usize;
    let mut from = 0;
    let mut options = Vec::new();
    for (at, c) in meaning(body) {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                options.push(body.get(from..at).unwrap_or_default());
                from = at + 1;
            }
            _ => {}
        }
    }
    options.push(body.get(from..).unwrap_or_default());
    options
}

/// Returns what a range stands for: `1..3`, `01..10..2`, `a..e`.
fn range(body: &[char], most: usize) -> Result<Option<Vec<Text>>, GlobError> {
    let body = String::from_iter(body);
    let ends: Vec<&str> = body.split("..").collect();
    let (from, to, step) = match *ends.as_slice() {
        [from, to] => (from, to, "1"),
        [from, to, step] => (from, to, step),
        _ => return Ok(None),
    };
    let Some(step) = whole(step) else { return Ok(None) };
    let step = step.unsigned_abs().max(1);
    let letter = |text: &str| {
        let mut chars = text.chars();
        chars.next().filter(|c| chars.next().is_none() && c.is_ascii_alphabetic())
    };
    let is_padded = |text: &str| {
        let digits = text.trim_start_matches('-');
        digits.len() > 1 && digits.starts_with('0')
    };
    let show: Box<dyn Fn(i64) -> String>;
    let (first, last) = match (whole(from), whole(to), letter(from), letter(to)) {
        (Some(first), Some(last), ..) => {
            let padded = is_padded(from) || is_padded(to);
            let width = if padded { from.len().max(to.len()) } else { 0 };
            show = Box::new(move |number| format!("{number:0width$}"));
            (first, last)
        }
        (_, _, Some(first), Some(last)) => {
            show = Box::new(|code| {
                u32::try_from(code).ok().and_then(char::from_u32).unwrap_or_default().to_string()
            });
            (i64::from(u32::from(first)), i64::from(u32::from(last)))
        }
        _ => return Ok(None),
    };
    let count = first.abs_diff(last) / step;
    bounded(usize::try_from(count).unwrap_or(usize::MAX).saturating_add(1), most)?;
    let nth = |n: u64| {
        let away = n.saturating_mul(step);
        if first <= last {
            first.saturating_add_unsigned(away)
        } else {
            first.saturating_sub_unsigned(away)
        }
    };
    // A backslash between letters stands for nothing.
    let text = |n: u64| {
        let shown = show(nth(n));
        if shown == "\\" { Text::new() } else { shown.chars().collect() }
    };
    Ok(Some((0..=count).map(text).collect()))
}

fn whole(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}
