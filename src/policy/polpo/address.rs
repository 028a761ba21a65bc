//! Which hosts are public (contract §8.2).
//!
//! **Invariant:** an IPv4 address that is carried inside an IPv6 address is judged as the IPv4 address
//! that it is.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Ranges of IPv4 that are not public: an address of each, and how many bits of it count.
const UNSAFE_V4: &[(Ipv4Addr, u32)] = &[
    (Ipv4Addr::UNSPECIFIED, 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // Groups, and what is reserved behind them.
    (Ipv4Addr::new(224, 0, 0, 0), 3),
];

/// Where global addresses of IPv6 are.
const GLOBAL_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// What among those is not: assignments of protocols, with Teredo, and documentation.
const UNSAFE_V6: &[(Ipv6Addr, u32)] = &[
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0x0db8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// Names that are never public, nor anything below them.
const PRIVATE_NAMES: &[&str] =
    &["localhost", "local", "internal", "home.arpa", "metadata.google.internal"];

/// Returns whether an address is a public one.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match carried(address) {
            Some(inside) => is_public_v4(inside),
            None => {
                in_v6(address, GLOBAL_V6) && !UNSAFE_V6.iter().any(|range| in_v6(address, *range))
            }
        },
    }
}

/// Returns whether a name is never one of a public host. The root's dot at its end changes nothing.
pub(super) fn is_private_name(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    PRIVATE_NAMES.iter().any(|private| {
        name.strip_suffix(private).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !UNSAFE_V4.iter().any(|(range, bits)| {
        let shift = 32 - bits;
        address.to_bits() >> shift == range.to_bits() >> shift
    })
}

fn in_v6(address: Ipv6Addr, (range, bits): (Ipv6Addr, u32)) -> bool {
    let shift = 128 - bits;
    address.to_bits() >> shift == range.to_bits() >> shift
}

/// Returns the IPv4 address that an IPv6 address stands for.
fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let of = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    let segments = address.segments();
    let [first, second, third, .., high, low] = segments;
    if first == 0x2002 {
        // 6to4.
        return Some(of(second, third));
    }
    // Compatible, with which `::` and `::1` go; mapped; translated; NAT64.
    let at_the_end = matches!(
        segments,
        [0, 0, 0, 0, 0, 0 | 0xffff, ..]
            | [0, 0, 0, 0, 0xffff, 0, ..]
            | [0x0064, 0xff9b, 0, 0, 0, 0, ..]
    );
    at_the_end.then(|| of(high, low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn public(text: &str) -> bool {
        is_public(text.parse().unwrap_or_else(|_| panic!("{text} is no address")))
    }

    #[test]
    fn each_range_ends_where_it_should() {
        for (inside, outside) in [
            (["0.0.0.0", "0.255.255.255"], ["1.0.0.0", "1.0.0.1"]),
            (["10.0.0.0", "10.255.255.255"], ["9.255.255.255", "11.0.0.0"]),
            (["100.64.0.0", "100.127.255.255"], ["100.63.255.255", "100.128.0.0"]),
            (["127.0.0.0", "127.255.255.255"], ["126.255.255.255", "128.0.0.0"]),
            (["169.254.0.0", "169.254.255.255"], ["169.253.255.255", "169.255.0.0"]),
            (["172.16.0.0", "172.31.255.255"], ["172.15.255.255", "172.32.0.0"]),
            (["192.0.0.0", "192.0.0.255"], ["191.255.255.255", "192.0.1.0"]),
            (["192.0.2.0", "192.0.2.255"], ["192.0.1.255", "192.0.3.0"]),
            (["192.168.0.0", "192.168.255.255"], ["192.167.255.255", "192.169.0.0"]),
            (["198.18.0.0", "198.19.255.255"], ["198.17.255.255", "198.20.0.0"]),
            (["198.51.100.0", "198.51.100.255"], ["198.51.99.255", "198.51.101.0"]),
            (["203.0.113.0", "203.0.113.255"], ["203.0.112.255", "203.0.114.0"]),
            (["224.0.0.0", "255.255.255.255"], ["223.255.255.255", "8.8.8.8"]),
        ] {
            assert!(inside.iter().all(|it| !public(it)), "{inside:?}");
            assert!(outside.iter().all(|it| public(it)), "{outside:?}");
        }
    }

    #[test]
    fn of_ipv6_only_what_is_global_is_public() {
        for inside in [
            "::",
            "::1",
            "fc00::1",
            "fdff::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2001::1",
            "2001:1ff::1",
            "2001:db8::1",
            "3fff::1",
            "64:ff9b:1::808:808",
            "100::1",
            "1fff::1",
            "4000::1",
        ] {
            assert!(!public(inside), "{inside}");
        }
        for outside in ["2000::1", "2001:200::1", "2606:4700::1111", "3ffe::1"] {
            assert!(public(outside), "{outside}");
        }
    }

    #[test]
    fn a_carried_ipv4_address_is_judged_as_one() {
        for (inside, outside) in [
            ("::ffff:127.0.0.1", "::ffff:8.8.8.8"),
            ("::10.0.0.1", "::8.8.8.8"),
            ("::ffff:0:192.168.1.1", "::ffff:0:8.8.8.8"),
            ("64:ff9b::169.254.169.254", "64:ff9b::8.8.8.8"),
            ("2002:7f00:1::1", "2002:808:808::1"),
        ] {
            assert!(!public(inside), "{inside}");
            assert!(public(outside), "{outside}");
        }
    }

    #[test]
    fn names_are_private_with_all_below_them() {
        for private in
            ["localhost", "LOCALHOST", "a.localhost.", "x.local", "db.internal..", "local"]
        {
            assert!(is_private_name(private), "{private}");
        }
        for public in ["example.com", "localhost.example", "mylocalhost", "notinternal"] {
            assert!(!is_private_name(public), "{public}");
        }
    }
}
