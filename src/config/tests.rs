//! Tests of the configuration.

use std::{collections::BTreeMap, time::Duration};

use fanfare_platforms::VideoService;

use super::{Config, VARIABLES};

fn read(pairs: &[(&str, &str)]) -> anyhow::Result<Config> {
    let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Config::from_variables(pairs.collect::<BTreeMap<_, _>>())
}

fn refusal(name: &str, value: &str) -> String {
    read(&[(name, value)]).err().map_or_else(String::new, |error| format!("{error:#}"))
}

#[test]
fn a_wrong_variable_is_refused_by_name() {
    for (name, value) in [
        ("FANFARE_LISTEN", "nowhere"),
        ("FANFARE_SIMULATOR", "maybe"),
        ("FANFARE_SANDBOX_PUBLIC_URL", "here"),
        ("FANFARE_METRICS_LISTEN", "9090"),
        ("FANFARE_MAX_LATENESS", "soon"),
        ("FANFARE_ALLOW_PRIVATE_TARGETS", "maybe"),
        ("FANFARE_DATABASE_URL", "mysql://x"),
        ("FANFARE_LOG_FORMAT", "xml"),
        ("FANFARE_BLUESKY_URL", "::"),
        ("FANFARE_BLUESKY_VIDEO_URL", "on"),
        ("FANFARE_THREADS_CLIENT_ID", "half a pair"),
        ("FANFARE_FAILPOINT", "elsewhere"),
        ("FANFARE_GRAPH_VERSION", "27"),
        ("FANFARE_LINKEDIN_VERSION", "2026-08"),
        ("FANFARE_LINKEDIN_SCOPES", "r_member_postAnalytics r_member_social"),
        ("FANFARE_TRUSTED_PROXIES", "10.0.0.0/8, everyone"),
        ("FANFARE_LIMITS_FACTOR", "-1"),
        ("FANFARE_VERTEX_PROJECT", "a/b"),
        ("FANFARE_VERTEX_CREDENTIALS", "/nowhere"),
        ("FANFARE_VERTEX_VIDEO_MODEL", "gemini-omni-1.1-flash"),
        ("FANFARE_XAI_VIDEO_MODEL", "veo-3.1-generate-001"),
        ("FANFARE_LIMITS_FACTOR", "NaN"),
        ("FANFARE_LISTNE", "127.0.0.1:1"),
    ] {
        assert!(refusal(name, value).contains(name), "{name}: {}", refusal(name, value));
    }
    assert!(refusal("FANFARE_LISTNE", "x").contains("did you mean FANFARE_LISTEN"));
}

#[test]
fn durations_and_defaults() {
    assert_eq!(read(&[]).unwrap().max_lateness, Duration::from_secs(86_400));
    let short = read(&[("FANFARE_MAX_LATENESS", "2s")]).unwrap();
    assert_eq!(short.max_lateness, Duration::from_secs(2));
    assert!(read(&[("FANFARE_REDIS_URL", "")]).unwrap().redis_url.is_none());
}

#[test]
fn videos_for_bluesky_have_a_service_unless_it_is_off() {
    let service =
        |value: &str| read(&[("FANFARE_BLUESKY_VIDEO_URL", value)]).unwrap().bluesky_video;
    assert_eq!(service(""), VideoService::Usual);
    assert_eq!(service("off"), VideoService::Off);
    let own = "https://video.example.com/";
    assert_eq!(service(own), VideoService::At(own.parse().unwrap()));
}

#[test]
fn vertex_ai_is_where_its_models_run() {
    let url = |more: &[(&str, &str)]| {
        let given = [&[("FANFARE_VERTEX_PROJECT", "films")], more].concat();
        read(&given).unwrap().ai.vertex.unwrap().url.to_string()
    };
    assert_eq!(url(&[]), "https://us-central1-aiplatform.googleapis.com/");
    let global = url(&[("FANFARE_VERTEX_LOCATION", "global")]);
    assert_eq!(global, "https://aiplatform.googleapis.com/");
    let own =
        [("FANFARE_VERTEX_LOCATION", "global"), ("FANFARE_VERTEX_URL", "https://veo.example.com")];
    assert_eq!(url(&own), "https://veo.example.com/");
}

#[test]
fn the_example_file_names_exactly_these_variables() {
    let example = include_str!("../../.env.example");
    let written: Vec<&str> = example
        .lines()
        .filter_map(|line| line.trim_start_matches("# ").split_once('='))
        .map(|(name, _)| name)
        .filter(|name| name.starts_with("FANFARE_"))
        .collect();
    let known: Vec<&str> = VARIABLES.iter().map(|(name, _)| *name).collect();
    assert_eq!(written, known);
}
