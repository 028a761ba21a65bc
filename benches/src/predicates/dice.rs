//! Chance that is the same each time, and text made of it.

/// A stream of numbers (`SplitMix64`).
pub struct Dice(u64);

impl Dice {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `sides`.
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % sides as u64) as usize
    }

    fn pick(&mut self, from: &[u8]) -> char {
        char::from(from[self.roll(from.len())])
    }

    /// Returns a word as logs have them: letters as often as in English, some capitals and numbers.
    pub fn word(&mut self) -> String {
        const LETTERS: &[u8] = b"eeeetttaaaooiinnsshhrrddllccuummwwffggyyppbbvkjxqz";
        const CAPITALS: &[u8] = b"ABCDEFGHIKLMNOPRSTUVW";
        if self.roll(12) == 0 {
            return self.roll(100_000).to_string();
        }
        let mut word: String = (0..2 + self.roll(8)).map(|_| self.pick(LETTERS)).collect();
        if self.roll(8) == 0 {
            let first = self.pick(CAPITALS);
            word.replace_range(..1, first.encode_utf8(&mut [0]));
        }
        word
    }

    /// Returns a text of so many characters that ends with `tail`.
    pub fn text(&mut self, characters: usize, tail: &str) -> String {
        const BETWEEN: [&str; 8] = [" ", " ", " ", " ", "\n", ": ", "/", "-"];
        let length = characters - tail.len();
        let mut text = String::with_capacity(characters);
        while text.len() < length {
            text.push_str(&self.word());
            text.push_str(BETWEEN[self.roll(BETWEEN.len())]);
        }
        text.truncate(length);
        text + tail
    }
}
