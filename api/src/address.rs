//! The client's IP address, also behind trusted proxies.

use std::net::{IpAddr, Ipv6Addr};

use ipnet::IpNet;
use salvo::{Request, conn::SocketAddr, http::HeaderMap};

/// The address of a client, on a request that one of ours stands behind: a tool call runs as a request to its route.
#[derive(Debug, Clone)]
pub struct ClientAddress(pub String);

/// Returns the address of a request's client, as rate limits count it.
pub fn of(req: &Request, trusted: &[IpNet]) -> String {
    match req.extensions().get::<ClientAddress>() {
        Some(ClientAddress(known)) => known.clone(),
        None => counted(req.remote_addr(), req.headers(), trusted),
    }
}

/// Returns the address as rate limits count it: IPv4 whole, IPv6 by its /64, which belongs to one household or machine.
fn counted(peer: &SocketAddr, headers: &HeaderMap, trusted: &[IpNet]) -> String {
    let peer = match peer {
        SocketAddr::IPv4(peer) => IpAddr::V4(*peer.ip()),
        SocketAddr::IPv6(peer) => IpAddr::V6(*peer.ip()),
        _ => return "local".to_owned(),
    };
    match client(peer.to_canonical(), headers, trusted) {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{}/64", Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

/// Returns the rightmost address that is not a trusted proxy's: everything left of it may be forged.
fn client(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |address: IpAddr| trusted.iter().any(|network| network.contains(&address));
    let mut nearest = peer;
    let lines: Vec<&str> =
        headers.get_all("x-forwarded-for").iter().map(|line| line.to_str().unwrap_or("")).collect();
    let mut hops = lines.iter().flat_map(|line| line.split(',')).rev();
    while is_trusted(nearest) {
        match hops.next().and_then(parse) {
            Some(next) => nearest = next,
            None => break,
        }
    }
    nearest
}

/// Parses an entry of the header: an address, which some proxies send with a port.
fn parse(entry: &str) -> Option<IpAddr> {
    let entry = entry.trim();
    let plain = entry.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
    let address = plain.or_else(|| Some(entry.parse::<std::net::SocketAddr>().ok()?.ip()))?;
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(peer: &str, forwarded: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append("x-forwarded-for", line.parse().unwrap());
        }
        let trusted = ["10.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()];
        let peer = std::net::SocketAddr::new(peer.parse().unwrap(), 1);
        counted(&SocketAddr::from(peer), &headers, &trusted)
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        assert_eq!(seen("203.0.113.9", &["198.51.100.7"]), "203.0.113.9");
        assert_eq!(seen("10.0.0.1", &["198.51.100.7"]), "198.51.100.7");
        assert_eq!(seen("fd00::1", &["198.51.100.7"]), "198.51.100.7");
        assert_eq!(seen("10.0.0.1", &[]), "10.0.0.1");
    }

    #[test]
    fn the_rightmost_address_that_is_not_trusted_counts() {
        assert_eq!(seen("10.0.0.1", &["1.2.3.4, 198.51.100.7, 10.0.0.2"]), "198.51.100.7");
        assert_eq!(seen("10.0.0.1", &["1.2.3.4", "198.51.100.7,10.0.0.2"]), "198.51.100.7");
        assert_eq!(seen("10.0.0.1", &["10.0.0.3, 10.0.0.2"]), "10.0.0.3");
        assert_eq!(seen("10.0.0.1", &["198.51.100.7, nonsense, 10.0.0.2"]), "10.0.0.2");
        assert_eq!(seen("10.0.0.1", &["198.51.100.7:4711"]), "198.51.100.7");
        assert_eq!(seen("10.0.0.1", &["[2001:db8::1]:4711"]), "2001:db8::/64");
    }

    #[test]
    fn ipv6_counts_by_its_network() {
        assert_eq!(seen("2001:db8:1:2:3:4:5:6", &[]), "2001:db8:1:2::/64");
        assert_eq!(seen("::ffff:203.0.113.9", &[]), "203.0.113.9");
    }
}
