//! Name resolution that returns only addresses that may be connected to.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::Arc,
};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::policy::is_public;

/// Looks up the addresses of a name.
pub(crate) type Lookup = Arc<dyn Fn(String) -> LookupFuture + Send + Sync>;
pub(crate) type LookupFuture = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// The error for a name without an allowed address. Does not contain the addresses, because nobody may learn what a
/// private name resolves to.
#[derive(Debug, thiserror::Error)]
#[error("its name has only private or reserved addresses")]
pub(crate) struct NoPublicAddress;

/// Returns the resolver of the operating system.
pub(crate) fn system_lookup() -> Lookup {
    Arc::new(|name| {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    })
}

/// Returns the public addresses among `found`.
///
/// # Errors
/// There is no public address.
pub(crate) fn only_public(mut found: Vec<IpAddr>) -> Result<Vec<IpAddr>, NoPublicAddress> {
    found.retain(|&ip| is_public(ip));
    if found.is_empty() { Err(NoPublicAddress) } else { Ok(found) }
}

/// The resolver that all connections use. The addresses that are checked are those that are connected to, so a name
/// whose addresses change between two lookups cannot avoid the check. The peer of a connection is always one of these
/// addresses, or a literal that [`crate::policy::Rules::reasons`] checks, so it needs no further check.
pub(crate) struct Resolver {
    pub lookup: Lookup,
    /// True if only public addresses are allowed.
    pub filter: bool,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let answer = (self.lookup)(name.as_str().to_owned());
        let filter = self.filter;
        Box::pin(async move {
            let mut found = answer.await?;
            if filter {
                found = only_public(found)?;
            }
            // Port 0 means the port of the URL or the default port of the scheme.
            let addresses: Addrs = Box::new(found.into_iter().map(|ip| SocketAddr::new(ip, 0)));
            Ok(addresses)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::only_public;

    #[test]
    fn a_mixed_answer_keeps_its_public_addresses_only() -> Result<(), Box<dyn std::error::Error>> {
        let mixed = ["10.0.0.1", "93.184.216.34", "::1", "::ffff:127.0.0.1", "2606:4700::1"];
        let found = mixed.iter().map(|ip| ip.parse()).collect::<Result<_, _>>()?;
        let kept = only_public(found)?.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(kept, ["93.184.216.34", "2606:4700::1"]);
        assert!(only_public(vec!["10.0.0.1".parse()?]).is_err());
        Ok(())
    }
}
