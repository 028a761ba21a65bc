//! How often: a count for each of many, a minute at a time.
//!
//! Comes in: who, and the time since the server began. Goes out: whether that is once too often, and
//! for how long. Nothing here asks for the time, and what is kept is bounded: of too many, those are
//! forgotten that have been silent for longest.

use std::hash::{Hash, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hashlink::LruCache;

use super::problem::Problem;
use crate::code::Code;

/// How long a count goes on.
const MINUTE: Duration = Duration::from_mins(1);

/// How many are counted at once.
const MOST: usize = 4096;

/// Counts what each of many does, a minute at a time.
pub(super) struct Limiter<K> {
    /// How often a minute; `None` is as often as anybody likes.
    per_minute: Option<u32>,
    counts: Mutex<LruCache<K, Count, RandomState>>,
}

/// What one has done since some point in time. It ends a minute later, whatever happens meanwhile.
#[derive(Debug, Clone, Copy)]
struct Count {
    began: Duration,
    times: u32,
}

impl<K: Eq + Hash> Limiter<K> {
    pub(super) fn new(per_minute: Option<u32>) -> Self {
        let counts = LruCache::with_hasher(MOST, RandomState::new());
        Self { per_minute, counts: Mutex::new(counts) }
    }

    /// Refuses whoever has been counted as often as is allowed.
    pub(super) fn check(&self, who: &K, now: Duration) -> Result<(), Problem> {
        self.judge(now, |counts| counts.get(who).copied())
    }

    /// Counts one more, and refuses it if it is one too many. What is refused does not count.
    pub(super) fn count(&self, who: K, now: Duration) -> Result<(), Problem> {
        self.judge(now, |counts| {
            let before = counts.get(&who).copied().filter(|count| !count.is_over(now));
            let mut count = before.unwrap_or(Count { began: now, times: 0 });
            let judged = count;
            count.times = count.times.saturating_add(1);
            counts.insert(who, count);
            Some(judged)
        })
    }

    fn judge(
        &self,
        now: Duration,
        look: impl FnOnce(&mut LruCache<K, Count, RandomState>) -> Option<Count>,
    ) -> Result<(), Problem> {
        let Some(most) = self.per_minute else { return Ok(()) };
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        match look(&mut counts).filter(|count| !count.is_over(now) && count.times >= most) {
            None => Ok(()),
            Some(count) => Err(too_often(count.ends().saturating_sub(now))),
        }
    }
}

impl Count {
    fn ends(&self) -> Duration {
        self.began.saturating_add(MINUTE)
    }

    fn is_over(&self, now: Duration) -> bool {
        now >= self.ends()
    }
}

/// The same words to everybody; when to come again stands in a header.
fn too_often(wait: Duration) -> Problem {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    Problem::new(Code::RateLimited, "too many requests of this kind")
        .hint("Come again when `retry-after` is over.")
        .retry_after(seconds)
}

/// Who is at the other end of a connection, as far as counting goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Peer(IpAddr);

impl Peer {
    /// Returns the peer at an address. Of IPv6 the network counts, since whoever has one address of
    /// it has all of them.
    pub(super) fn at(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => {
                let network = u128::from(address) & !u128::from(u64::MAX);
                IpAddr::V6(Ipv6Addr::from(network))
            }
            address @ IpAddr::V4(_) => address,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(problem: Result<(), Problem>) -> Option<u64> {
        problem.err().map(|problem| problem.said().retry_after.expect("a time"))
    }

    const fn at(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn so_many_a_minute_and_no_more() {
        let limiter = Limiter::new(Some(3));
        for now in [0, 1, 30_000] {
            assert_eq!(seconds(limiter.check(&"a", at(now))), None);
            assert_eq!(seconds(limiter.count("a", at(now))), None);
        }
        assert_eq!(seconds(limiter.count("a", at(30_001))), Some(30));
        assert_eq!(seconds(limiter.check(&"a", at(59_999))), Some(1));
        // Nobody pays for others, and what was refused does not make it longer.
        assert_eq!(seconds(limiter.count("b", at(59_999))), None);
        assert_eq!(seconds(limiter.check(&"a", at(60_000))), None);
        assert_eq!(seconds(limiter.count("a", at(60_000))), None);
        assert_eq!(seconds(limiter.check(&"a", at(60_000))), None);
    }

    #[test]
    fn no_limit_is_none() {
        let limiter = Limiter::new(None);
        for _ in 0..1000 {
            assert_eq!(seconds(limiter.count("a", at(0))), None);
        }
        assert_eq!(limiter.counts.lock().expect("a lock").len(), 0);
    }

    #[test]
    fn a_crowd_takes_no_more_room_than_there_is() {
        let limiter = Limiter::new(Some(1));
        for who in 0..100_000_u32 {
            assert_eq!(seconds(limiter.count(who, at(0))), None);
        }
        assert_eq!(limiter.counts.lock().expect("a lock").len(), MOST);
        assert_eq!(seconds(limiter.count(99_999, at(0))), Some(60), "who was heard last is known");
    }

    #[test]
    fn a_peer_is_an_address_or_a_network() {
        let peer = |text: &str| Peer::at(text.parse().expect("an address"));
        assert_ne!(peer("127.0.0.1"), peer("127.0.0.2"));
        assert_eq!(peer("127.0.0.1"), peer("::ffff:127.0.0.1"));
        assert_eq!(peer("2001:db8::1"), peer("2001:db8::ffff:0:0:2"));
        assert_ne!(peer("2001:db8:0:1::1"), peer("2001:db8:0:2::1"));
    }
}
