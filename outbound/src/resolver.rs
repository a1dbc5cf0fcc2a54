//! Name resolution that keeps refused addresses from ever being connected to.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::Arc,
};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::policy::is_public;

/// Asks for the addresses of a name.
pub(crate) type Lookup = Arc<dyn Fn(String) -> Answer + Send + Sync>;
pub(crate) type Answer = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// The name has no address that may be reached. Says nothing of the addresses: what a private name resolves to is
/// nobody's business.
#[derive(Debug, thiserror::Error)]
#[error("its name has only private or reserved addresses")]
pub(crate) struct Refused;

/// The system's resolver.
pub(crate) fn system() -> Lookup {
    Arc::new(|name| {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    })
}

/// The public ones among `found`.
///
/// # Errors
/// None is left.
pub(crate) fn only_public(mut found: Vec<IpAddr>) -> Result<Vec<IpAddr>, Refused> {
    found.retain(|&ip| is_public(ip));
    if found.is_empty() { Err(Refused) } else { Ok(found) }
}

/// The resolver of connections. The answer that is judged is the answer that is connected to, so a name that
/// changes between two look-ups gains nothing; and as a peer is always one of these addresses (or a literal, which
/// [`crate::policy::Rules::judge`] sees), it needs no check of its own.
pub(crate) struct Resolver {
    pub lookup: Lookup,
    /// Drop what is not public.
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
            // Port 0 stands for the one in the URL, or the scheme's.
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
