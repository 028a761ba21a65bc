//! Columns that line up.

use std::io::{self, Write};

use super::{DIM, printable};

/// Rows under a heading. The last column is as wide as it likes.
pub(crate) struct Table<const N: usize> {
    heading: [&'static str; N],
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    /// Returns an empty table under this heading.
    pub(crate) const fn new(heading: [&'static str; N]) -> Self {
        Self { heading, rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: [String; N]) {
        self.rows.push(cells.map(|cell| printable(&cell).into_owned()));
    }

    /// Prints the heading and the rows.
    pub(crate) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let heading = self.heading.map(str::to_owned);
        let lines = || std::iter::once(&heading).chain(&self.rows);
        let width = |column: usize| lines().map(|line| length(line, column)).max().unwrap_or(0);
        let widths: Vec<usize> = (0..N).map(width).collect();
        for (at, line) in lines().enumerate() {
            let mut text = String::new();
            for (cell, width) in line.iter().zip(&widths) {
                text.push_str(&format!("{cell:width$}  "));
            }
            let text = text.trim_end();
            if at == 0 {
                writeln!(out, "{DIM}{text}{DIM:#}")?;
            } else {
                writeln!(out, "{text}")?;
            }
        }
        Ok(())
    }
}

fn length<const N: usize>(line: &[String; N], column: usize) -> usize {
    line.get(column).map_or(0, |cell| cell.chars().count())
}
