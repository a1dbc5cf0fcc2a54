//! Checks of networks: expiring API versions, and missing apps.

use chrono::NaiveDate;
use fanfare_ops::ops::networks::API_WARNING_DAYS;
use fanfare_platforms::{self as platforms, PlatformId, Spec, SupportedApi};

/// Returns API versions that expire soon or have expired, for networks that can be connected.
pub fn ending_api_versions(has_app: impl Fn(PlatformId) -> bool, today: NaiveDate) -> Vec<String> {
    let specs = platforms::all().iter().map(|platform| platform.spec());
    let usable = specs.filter(|spec| !spec.connect.needs_app() || has_app(spec.id));
    usable.filter_map(|spec| ending(spec, &spec.api?, today)).collect()
}

fn ending(spec: &Spec, api: &SupportedApi, today: NaiveDate) -> Option<String> {
    let days = api.days_left(today).filter(|days| *days <= API_WARNING_DAYS)?;
    let (label, version, ends) = (spec.label, api.version, api.ends.unwrap_or_default());
    Some(if days < 0 {
        format!("{label} stopped answering version {version} on {ends}; update Fanfare now")
    } else {
        format!(
            "{label} stops answering version {version} on {ends}, in {days} days; update Fanfare before"
        )
    })
}

/// Returns the networks that need an app that is not configured, so that only the simulated one can be connected;
/// `None` if there are none.
pub fn without_app(has_app: impl Fn(PlatformId) -> bool) -> Option<String> {
    let specs = platforms::all().iter().map(|platform| platform.spec());
    let missing = specs.filter(|spec| spec.connect.needs_app() && !has_app(spec.id));
    let names: Vec<&str> = missing.map(|spec| spec.id.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "none for {}; set FANFARE_<PLATFORM>_CLIENT_ID and FANFARE_<PLATFORM>_CLIENT_SECRET to connect accounts \
             there, until then the simulated ones",
            names.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn an_end_is_told_of_networks_that_can_be_connected() {
        let ends = platforms::all().iter().map(|platform| platform.spec());
        let ends = ends.filter_map(|spec| Some((spec, spec.api?.ends?)));
        let (spec, ends) = ends.into_iter().next().expect("a version that ends");
        let told = |has_app: bool, before: i64| {
            let today = day(ends) - chrono::TimeDelta::days(before);
            let found = ending_api_versions(|id| has_app && id == spec.id, today);
            found.into_iter().find(|one| one.contains(spec.label))
        };
        assert_eq!(told(true, API_WARNING_DAYS + 1), None);
        assert!(told(true, API_WARNING_DAYS).unwrap().contains("in 60 days"));
        assert!(told(true, -1).unwrap().contains("stopped answering"));
        assert_eq!(told(false, 1).is_some(), !spec.connect.needs_app());
    }

    #[test]
    fn networks_without_an_app_are_named() {
        let told = without_app(|id| id != PlatformId::X).unwrap();
        assert!(told.starts_with("none for x;"), "{told}");
        assert_eq!(without_app(|_| true), None);
        let all = without_app(|_| false).unwrap();
        assert!(all.contains("google_business") && !all.contains("mastodon"), "{all}");
    }
}
