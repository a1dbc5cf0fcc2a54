//! Which targets may be reached: the rules for an address as it is written, and the tables of refused networks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};
use url::{Host, Url};

/// The targets that may be reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Policy {
    /// If false, only https to public addresses on ports 80 and 443 is allowed. If true (for development), any address,
    /// plain http and any port are allowed.
    pub allow_private: bool,
}

/// The single rules of the policy, so that a test can disable one and check the others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    pub any_address: bool,
    pub plain_http: bool,
    pub any_port: bool,
}

impl From<Policy> for Rules {
    fn from(policy: Policy) -> Self {
        let open = policy.allow_private;
        Self { any_address: open, plain_http: open, any_port: open }
    }
}

impl Rules {
    /// Returns all reasons to refuse an address, without looking up its name.
    pub fn reasons(self, url: &Url) -> Vec<&'static str> {
        let is_https = url.scheme() == "https" || (self.plain_http && url.scheme() == "http");
        let is_usual_port = matches!(url.port_or_known_default(), Some(80 | 443));
        let host = match url.host() {
            Some(Host::Domain(_)) => Ok(()),
            Some(Host::Ipv4(ip)) => self.check_ip(ip.into()),
            Some(Host::Ipv6(ip)) => self.check_ip(ip.into()),
            None => Err("it names no host"),
        };
        let rules = [
            if is_https { Ok(()) } else { Err("only https addresses are") },
            check_no_userinfo(url),
            if self.any_port || is_usual_port {
                Ok(())
            } else {
                Err("only the ports 80 and 443 are")
            },
            host,
        ];
        rules.into_iter().filter_map(Result::err).collect()
    }

    fn check_ip(self, ip: IpAddr) -> Result<(), &'static str> {
        if self.any_address || is_public(ip) {
            Ok(())
        } else {
            Err("it is a private or reserved address")
        }
    }
}

/// Refuses credentials in an address. They belong in headers: in an address they reach logs and can disguise the host.
pub(crate) fn check_no_userinfo(url: &Url) -> Result<(), &'static str> {
    if url.username().is_empty() && url.password().is_none() {
        Ok(())
    } else {
        Err("an address with a user name or password in it is not")
    }
}

/// Returns true if `ip` is a global unicast address.
pub(crate) fn is_public(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => !REFUSED_V4.iter().any(|net| net.contains(&ip)),
        IpAddr::V6(ip) => !REFUSED_V6.iter().any(|net| net.contains(&ip)),
    }
}

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6(a: u16, b: u16, c: u16, prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), prefix)
}

/// The networks in IANA's IPv4 special-purpose registry that are not globally reachable, and one cloud address.
const REFUSED_V4: &[Ipv4Net] = &[
    v4(0, 0, 0, 0, 8),        // this network
    v4(10, 0, 0, 0, 8),       // private
    v4(100, 64, 0, 0, 10),    // shared by carriers (CGNAT)
    v4(127, 0, 0, 0, 8),      // loopback
    v4(168, 63, 129, 16, 32), // Azure's host service: inside a public range, reached from within only
    v4(169, 254, 0, 0, 16),   // link-local, metadata services of clouds
    v4(172, 16, 0, 0, 12),    // private
    v4(192, 0, 0, 0, 24),     // protocol assignments
    v4(192, 0, 2, 0, 24),     // documentation
    v4(192, 88, 99, 0, 24),   // 6to4 relays
    v4(192, 168, 0, 0, 16),   // private
    v4(198, 18, 0, 0, 15),    // benchmarks
    v4(198, 51, 100, 0, 24),  // documentation
    v4(203, 0, 113, 0, 24),   // documentation
    v4(224, 0, 0, 0, 4),      // multicast
    v4(240, 0, 0, 0, 4),      // class E and broadcast
];

/// Everything outside `2000::/3` (the only range that IANA allocates for global unicast) and special ranges inside it.
const REFUSED_V6: &[Ipv6Net] = &[
    v6(0, 0, 0, 3), // unspecified, loopback, ::/96, NAT64 (64:ff9b::), discard-only (100::)
    v6(0x2001, 0, 0, 23), // protocol assignments: Teredo (2001::/32), benchmarks, ORCHID
    v6(0x2001, 0xdb8, 0, 32), // documentation
    v6(0x2002, 0, 0, 16), // 6to4: carries an IPv4 address of any kind
    v6(0x3fff, 0, 0, 20), // documentation
    v6(0x4000, 0, 0, 2), // not opened; segment routing (5f00::)
    v6(0x8000, 0, 0, 1), // not opened; fc00::/7 unique local, fe80::/10 link-local, fec0::/10, multicast
];

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use ipnet::IpNet;

    use super::{REFUSED_V4, REFUSED_V6, is_public};

    /// Addresses that must be refused, listed independently of the table.
    const MUST_REFUSE: &[&str] = &[
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "168.63.129.16/32",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "255.255.255.255/32",
        "::/128",
        "::1/128",
        "::/96",
        "64:ff9b::/96",
        "64:ff9b:1::/48",
        "100::/64",
        "2001::/32",
        "2001:db8::/32",
        "2002::/16",
        "3fff::/20",
        "5f00::/16",
        "fc00::/7",
        "fe80::/10",
        "fec0::/10",
        "ff00::/8",
        "::ffff:0.0.0.0/104",
        "::ffff:10.0.0.0/104",
        "::ffff:100.64.0.0/106",
        "::ffff:127.0.0.0/104",
        "::ffff:169.254.0.0/112",
        "::ffff:172.16.0.0/108",
        "::ffff:192.168.0.0/112",
        "::ffff:224.0.0.0/100",
    ];

    /// The addresses next to each refused range, and some well-known ones.
    const MUST_ALLOW: &[&str] = &[
        "1.0.0.0",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "168.63.129.15",
        "168.63.129.17",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "191.255.255.255",
        "192.0.1.0",
        "192.0.1.255",
        "192.0.3.0",
        "192.88.98.255",
        "192.88.100.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "198.51.99.255",
        "198.51.101.0",
        "203.0.112.255",
        "203.0.114.0",
        "223.255.255.255",
        "8.8.8.8",
        "93.184.216.34",
        "2000::",
        "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "2001:200::",
        "2001:db7:ffff::",
        "2001:db9::",
        "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "2003::",
        "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "3fff:1000::",
        "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "2606:4700::6810:84e5",
        "::ffff:1.0.0.0",
        "::ffff:8.8.8.8",
        "::ffff:172.32.0.0",
    ];

    fn table() -> impl Iterator<Item = IpNet> {
        let v4 = REFUSED_V4.iter().copied().map(IpNet::V4);
        v4.chain(REFUSED_V6.iter().copied().map(IpNet::V6))
    }

    fn beside(ip: IpAddr) -> [Option<IpAddr>; 2] {
        match ip {
            IpAddr::V4(ip) => {
                let n = u32::from(ip);
                [n.checked_sub(1), n.checked_add(1)].map(|n| n.map(|n| IpAddr::V4(n.into())))
            }
            IpAddr::V6(ip) => {
                let n = u128::from(ip);
                [n.checked_sub(1), n.checked_add(1)].map(|n| n.map(|n| IpAddr::V6(n.into())))
            }
        }
    }

    #[test]
    fn each_net_is_refused_from_its_first_to_its_last_address() -> Result<(), ipnet::AddrParseError>
    {
        for text in MUST_REFUSE {
            let net: IpNet = text.parse()?;
            assert!(!is_public(net.network()), "first of {net}");
            assert!(!is_public(net.broadcast()), "last of {net}");
        }
        for net in table() {
            assert_eq!(net, net.trunc(), "{net} has host bits");
            assert!(!is_public(net.network()), "first of {net}");
            assert!(!is_public(net.broadcast()), "last of {net}");
        }
        Ok(())
    }

    #[test]
    fn what_lies_beside_the_nets_is_allowed() -> Result<(), std::net::AddrParseError> {
        for text in MUST_ALLOW {
            assert!(is_public(text.parse()?), "{text}");
        }
        let mut neighbours = 0;
        for net in table() {
            for ip in [net.network(), net.broadcast()].into_iter().flat_map(beside).flatten() {
                if table().all(|other| !other.contains(&ip)) {
                    neighbours += 1;
                    assert!(is_public(ip), "{ip} beside {net}");
                }
            }
        }
        assert!(neighbours > 30, "only {neighbours} neighbours were looked at");
        Ok(())
    }
}
