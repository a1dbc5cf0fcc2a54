//! Checks of networks: expiring API versions, and missing apps.

use chrono::NaiveDate;
use fanfare_ops::ops::networks::api_remedy;
use fanfare_platforms::{self as platforms, PlatformId, Spec, SupportedApi};

/// Returns what is to be said of the versions of APIs, for networks that can be connected: those that expire soon or
/// have expired, those that nobody has looked after, and those that this release was not tested with.
pub fn api_versions(has_app: impl Fn(PlatformId) -> bool, today: NaiveDate) -> Vec<String> {
    let specs = platforms::all().iter().map(|platform| platform.spec());
    let usable = specs.filter(|spec| !spec.connect.needs_app() || has_app(spec.id));
    let told = usable.filter_map(|spec| Some((spec, spec.api_in_use()?)));
    told.flat_map(|(spec, api)| {
        let findings =
            [ending(spec, &api, today), unchecked(spec, &api, today), untested(spec, &api)];
        findings.into_iter().flatten()
    })
    .collect()
}

fn ending(spec: &Spec, api: &SupportedApi, today: NaiveDate) -> Option<String> {
    let days = api.days_left(today)?;
    let remedy = api_remedy(days)?;
    let (label, version, ends) = (spec.label, api.version, api.ends.unwrap_or_default());
    Some(if days < 0 {
        format!("{label} stopped answering version {version} on {ends}; {remedy}")
    } else {
        format!("{label} stops answering version {version} on {ends}, in {days} days; {remedy}")
    })
}

fn unchecked(spec: &Spec, api: &SupportedApi, today: NaiveDate) -> Option<String> {
    api.is_unchecked(today).then(|| {
        format!(
            "nobody has looked for a newer version of {}'s API than {} since {}; update Fanfare",
            spec.label, api.newest_known, api.checked_at
        )
    })
}

fn untested(spec: &Spec, api: &SupportedApi) -> Option<String> {
    (!spec.is_api_tested()).then(|| {
        let tested = spec.api.map_or("", |api| api.version);
        format!(
            "version {} of {}'s API is not tested with this release, which was made for {tested}",
            api.version, spec.label
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

    /// What is said of LinkedIn, whose version ends on this day.
    fn told(has_app: bool, today: &str) -> Vec<String> {
        api_versions(|id| has_app && id == PlatformId::Linkedin, day(today))
            .into_iter()
            .filter(|one| one.contains("LinkedIn"))
            .collect()
    }

    #[test]
    fn an_end_is_told_of_networks_that_can_be_connected() {
        // 202608 ends a year after the middle of August 2026.
        let ending = |today: &str| {
            told(true, today).into_iter().find(|one| one.contains("answering version 202608"))
        };
        assert_eq!(ending("2027-02-16"), None, "181 days before");
        assert!(ending("2027-02-17").unwrap().ends_with("in 180 days; update Fanfare before"));
        assert!(ending("2027-06-17").unwrap().ends_with("in 60 days; update Fanfare soon"));
        assert!(ending("2027-08-02").unwrap().ends_with("in 14 days; update Fanfare now"));
        let ended = ending("2027-08-17").unwrap();
        assert!(ended.contains("stopped answering version 202608 on 2027-08-16"), "{ended}");
        assert!(told(false, "2027-08-17").is_empty(), "nobody can be connected there");
    }

    #[test]
    fn a_look_that_is_half_a_year_old_is_told() {
        assert!(told(true, "2027-01-01").is_empty());
        let told = told(true, "2027-05-26").join(" ");
        assert!(told.contains("nobody has looked") && told.contains("since 2026-11-26"), "{told}");
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
