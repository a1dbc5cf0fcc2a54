//! Parses the address of a store.

use std::path::PathBuf;

use url::{Host, Url};

use crate::{Error, path};

/// The location of the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Location {
    /// A local directory.
    Directory(PathBuf),
    /// A bucket with an S3-compatible API.
    Bucket(Bucket),
}

/// A bucket and a prefix in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bucket {
    pub name: String,
    /// The prefix of all keys, without leading or trailing slashes. May be empty.
    pub prefix: String,
    /// The server, or `None` for Amazon S3.
    pub endpoint: Option<Url>,
    /// True if the connection to the server has no TLS.
    pub plain: bool,
    /// True if the bucket name is part of the host name and not of the path. Amazon requires this, but its certificates
    /// match only bucket names without a dot. Most other servers require the path.
    pub in_host: bool,
}

impl Bucket {
    /// Returns the address for requests to the server, without a trailing slash, or `None` for Amazon S3.
    pub fn address(&self) -> Option<String> {
        let mut url = self.endpoint.clone()?;
        if self.in_host {
            let host = format!("{}.{}", self.name, url.host_str().unwrap_or_default());
            url.set_host(Some(&host)).ok()?;
        }
        Some(url.as_str().trim_end_matches('/').to_owned())
    }
}

impl Location {
    /// Parses `file:///directory` or `s3://bucket/prefix?endpoint=https://server`. Plain http is allowed for servers on
    /// this
    /// machine, and for others with `&allow_http=true`. `&style=virtual` puts the bucket name into the host name.
    pub fn parse(text: &str) -> Result<Self, Error> {
        // The messages below do not repeat the address, because it may contain a password.
        let url = Url::parse(text)
            .map_err(|cause| config_error(&format!("The media URL is not a URL: {cause}.")))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(config_error(
                "The media URL must not hold a key or password: those have settings of their own.",
            ));
        }
        match url.scheme() {
            "file" => directory(text, &url).map(Self::Directory),
            "s3" => bucket(&url).map(Self::Bucket),
            other => Err(config_error(&format!(
                "The media URL begins with file:// or s3://, not with {other}:."
            ))),
        }
    }
}

fn directory(text: &str, url: &Url) -> Result<PathBuf, Error> {
    let wrong = || {
        config_error(
            "The media URL names a whole path: file:///var/lib/fanfare/media, with three slashes.",
        )
    };
    let plain = text.starts_with("file:///") && url.query().is_none() && url.fragment().is_none();
    let path = plain.then(|| url.to_file_path().ok()).flatten().ok_or_else(wrong)?;
    // The root of the file system is probably a mistake, such as an empty variable.
    path.file_name().ok_or_else(wrong)?;
    Ok(path)
}

fn bucket(url: &Url) -> Result<Bucket, Error> {
    let name = url.host_str().unwrap_or_default();
    if !(3..=63).contains(&name.len()) || path::check(name).is_err() {
        return Err(config_error("The media URL names a bucket: s3://bucket/prefix."));
    }
    let prefix = url.path().trim_matches('/');
    if !prefix.is_empty() && path::check(prefix).is_err() {
        return Err(config_error(
            "The prefix in the media URL takes letters, digits, '-', '_', '.' and '/'.",
        ));
    }
    let (mut endpoint, mut plain_anywhere, mut style) = (None, false, None);
    for (key, value) in url.query_pairs() {
        match (&*key, &*value) {
            ("endpoint", value) if endpoint.is_none() => endpoint = Some(server(value)?),
            ("allow_http", "true" | "false") => plain_anywhere = value == "true",
            ("style", "path" | "virtual") if style.is_none() => style = Some(value == "virtual"),
            _ => {
                return Err(config_error(&format!(
                    "The media URL takes endpoint, style (path, virtual) and allow_http, each once, not {key}."
                )));
            }
        }
    }
    let plain = endpoint.as_ref().is_some_and(|endpoint| endpoint.scheme() == "http");
    if plain && !plain_anywhere && !endpoint.as_ref().is_some_and(is_loopback) {
        return Err(config_error(
            "The endpoint in the media URL is http: use https, or add &allow_http=true.",
        ));
    }
    let in_host = style.unwrap_or(endpoint.is_none() && !name.contains('.'));
    let named = endpoint.as_ref().is_none_or(|url| matches!(url.host(), Some(Host::Domain(_))));
    if in_host && !named {
        return Err(config_error(
            "With style=virtual the endpoint in the media URL needs a name, not an address.",
        ));
    }
    Ok(Bucket { name: name.to_owned(), prefix: prefix.to_owned(), endpoint, plain, in_host })
}

fn server(text: &str) -> Result<Url, Error> {
    let usable = |url: &Url| {
        matches!(url.scheme(), "http" | "https")
            && (url.username().is_empty() && url.password().is_none())
            && (url.query().is_none() && url.fragment().is_none())
    };
    Url::parse(text).ok().filter(usable).ok_or_else(|| {
        config_error(
            "The endpoint in the media URL is not an address such as https://s3.example.com.",
        )
    })
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

fn config_error(text: &str) -> Error {
    Error::Config(text.to_owned())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Bucket, Location};
    use crate::Error;

    fn bucket(text: &str) -> Result<Bucket, Error> {
        match Location::parse(text)? {
            Location::Bucket(bucket) => Ok(bucket),
            Location::Directory(_) => Err(Error::Config("a directory".to_owned())),
        }
    }

    #[test]
    fn directories_are_absolute() -> Result<(), Error> {
        let at = |path: &str| Location::Directory(PathBuf::from(path));
        assert_eq!(Location::parse("file:///var/media")?, at("/var/media"));
        assert_eq!(Location::parse("file:///var/my%20media/")?, at("/var/my media/"));
        for text in [
            "file:media",
            "file://media",
            "file:/media",
            "file:///",
            "file:///a?b=c",
            "media",
            "",
            "/var/media",
        ] {
            assert!(matches!(Location::parse(text), Err(Error::Config(_))), "{text}");
        }
        Ok(())
    }

    #[test]
    fn buckets_come_with_a_prefix_and_an_endpoint() -> Result<(), Error> {
        let amazon = bucket("s3://my-bucket")?;
        assert_eq!(
            (amazon.name.as_str(), amazon.prefix.as_str(), amazon.endpoint),
            ("my-bucket", "", None)
        );
        let own = bucket("s3://media/a/b/?endpoint=https://s3.example.com:9000")?;
        assert_eq!((own.name.as_str(), own.prefix.as_str(), own.plain), ("media", "a/b", false));
        assert_eq!(own.endpoint.map(String::from).as_deref(), Some("https://s3.example.com:9000/"));
        let escaped = bucket("s3://media?endpoint=https%3A%2F%2Fs3.example.com%2Fbase")?;
        assert_eq!(
            escaped.endpoint.map(String::from).as_deref(),
            Some("https://s3.example.com/base")
        );
        Ok(())
    }

    #[test]
    fn a_bucket_is_named_in_the_path_or_in_the_host() -> Result<(), Error> {
        let at = |text: &str| {
            bucket(&format!("s3://media?{text}")).map(|bucket| (bucket.address(), bucket.in_host))
        };
        let own = |address: &str, in_host| Ok((Some(address.to_owned()), in_host));
        let endpoint = "endpoint=https://s3.example.com:9000/base";
        assert_eq!(at(endpoint), own("https://s3.example.com:9000/base", false));
        assert_eq!(
            at(&format!("{endpoint}&style=path")),
            own("https://s3.example.com:9000/base", false)
        );
        let virtual_host = at(&format!("{endpoint}&style=virtual"));
        assert_eq!(virtual_host, own("https://media.s3.example.com:9000/base", true));
        assert_eq!(at("style=virtual"), Ok((None, true)));
        assert_eq!(at(""), Ok((None, true)));
        assert!(!bucket("s3://media.example")?.in_host, "no certificate matches it");
        assert!(at("endpoint=https://10.0.0.7:9000&style=virtual").is_err());
        Ok(())
    }

    #[test]
    fn plain_http_stays_on_the_machine_unless_asked_for() -> Result<(), Error> {
        for host in ["127.0.0.1:9000", "localhost", "[::1]:9000"] {
            assert!(bucket(&format!("s3://media?endpoint=http://{host}"))?.plain, "{host}");
        }
        assert!(bucket("s3://media?endpoint=http://minio:9000").is_err());
        assert!(bucket("s3://media?endpoint=http://minio:9000&allow_http=false").is_err());
        assert!(bucket("s3://media?endpoint=http://minio:9000&allow_http=true")?.plain);
        assert!(!bucket("s3://media?endpoint=https://minio:9000&allow_http=true")?.plain);
        Ok(())
    }

    #[test]
    fn what_cannot_be_meant_is_refused_and_not_repeated() {
        for text in [
            "s3://",
            "s3://ab",
            "s3:///media",
            "s3://media/a%2e%2e/b",
            "s3://media/a b",
            "s3://media?region=eu",
            "s3://media?endpoint=ftp://s3.example.com",
            "s3://media?endpoint=s3.example.com",
            "s3://media?endpoint=https://s3.example.com/?x=y",
            "s3://media?endpoint=https://a.example&endpoint=https://b.example",
            "s3://media?allow_http=yes",
            "s3://media?style=both",
            "https://s3.example.com/media",
            "s3://AKIA:hunter2@media",
            "s3://media?endpoint=https://AKIA:hunter2@s3.example.com",
            "file://AKIA:hunter2@host/media",
        ] {
            let refused = bucket(text).err().map(|error| error.to_string());
            assert!(
                refused.as_ref().is_some_and(|text| !text.contains("hunter2")),
                "{text}: {refused:?}"
            );
        }
    }
}
