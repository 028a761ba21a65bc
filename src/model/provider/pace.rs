//! How patient a turn is.

use std::time::Duration;

use crate::engine::ModelSettings;

/// How patient a turn is. A value, so that a test waits as long as it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// How long a connection may take.
    pub connect: Duration,
    /// How long a provider may be silent.
    pub silence: Duration,
    /// How often a turn is tried.
    pub attempts: u32,
    /// How long the first wait is, at most; each further one is twice as long.
    pub first_wait: Duration,
    /// How long any wait is, at most. A provider that asks for longer is not tried again.
    pub longest_wait: Duration,
    /// What the waits are scattered by.
    pub seed: u64,
}

impl Pace {
    /// Returns the pace of these settings.
    pub(super) fn of(settings: &ModelSettings) -> Self {
        Self {
            connect: Duration::from_secs(settings.connect_secs.max(1)),
            silence: Duration::from_secs(settings.silence_secs.max(1)),
            attempts: settings.attempts.max(1),
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_mins(1),
            seed: 0,
        }
    }

    /// Returns how long to wait after attempt `attempt` (from 1), of which the provider said
    /// `asked`; nothing if it is not to be tried again.
    pub(super) fn wait(&self, attempt: u32, asked: Option<Duration>) -> Option<Duration> {
        if attempt >= self.attempts {
            return None;
        }
        match asked {
            Some(asked) => (asked <= self.longest_wait).then_some(asked),
            None => Some(self.backoff(attempt)),
        }
    }

    /// Twice as long each time, and between a half and the whole of it.
    fn backoff(&self, attempt: u32) -> Duration {
        let doubled = 2_u32.saturating_pow(attempt.saturating_sub(1));
        let longest = self.first_wait.saturating_mul(doubled).min(self.longest_wait);
        let half = longest / 2;
        let share = u32::try_from(scatter(self.seed, attempt) >> 48).unwrap_or_default();
        half + half.saturating_mul(share) / (u32::from(u16::MAX) + 1)
    }
}

/// The finalizer of `SplitMix64`: 64 bits that look random, from a seed and a number.
const fn scatter(seed: u64, number: u32) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(number as u64 + 1));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pace(seed: u64) -> Pace {
        Pace { seed, ..Pace::of(&ModelSettings::default()) }
    }

    #[test]
    fn the_provider_is_heeded_unless_it_asks_for_too_much_or_the_attempts_are_used_up() {
        let seconds = Duration::from_secs;
        assert_eq!(pace(1).wait(1, Some(seconds(7))), Some(seconds(7)));
        assert_eq!(pace(1).wait(1, Some(Duration::ZERO)), Some(Duration::ZERO));
        assert_eq!(pace(1).wait(1, Some(seconds(61))), None);
        assert_eq!(pace(1).wait(4, Some(seconds(1))), None);
        assert_eq!(pace(1).wait(4, None), None);
    }

    proptest! {
        /// A wait is between a half and the whole of what doubles, never beyond the longest, and
        /// the same for the same seed.
        #[test]
        fn waits_double_and_scatter(seed: u64, attempt in 1..1000_u32) {
            let pace = Pace { attempts: u32::MAX, ..pace(seed) };
            let longest = if attempt > 6 { 60 } else { 1 << (attempt - 1) };
            let longest = Duration::from_secs(longest).min(pace.longest_wait);
            let wait = pace.wait(attempt, None).expect("a wait");
            prop_assert!(wait >= longest / 2 && wait <= longest, "{wait:?} of {longest:?}");
            prop_assert_eq!(Some(wait), pace.wait(attempt, None));
        }
    }
}
