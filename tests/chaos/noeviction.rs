//! Redis is out of memory with `noeviction`: it answers, but accepts neither jobs nor counters.

use crate::{away::post_during_fault, report::Outcome, settings::Settings};

/// Fills Redis.
pub async fn run(settings: &Settings) -> Outcome {
    let thrown = format!("Redis at maxmemory with noeviction for {} s", settings.away.as_secs());
    let fill = |fleet: &mut crate::fleet::Fleet| {
        let redis = &fleet.redis;
        assert_eq!(redis.ask(&["CONFIG", "SET", "maxmemory-policy", "noeviction"]), "OK");
        // Less than it uses already.
        assert_eq!(redis.ask(&["CONFIG", "SET", "maxmemory", "100kb"]), "OK");
        let refused = redis.ask(&["SET", "anything", "at-all"]);
        assert!(refused.starts_with("OOM"), "Redis still takes writes: {refused}");
    };
    let empty = |fleet: &mut crate::fleet::Fleet| {
        assert_eq!(fleet.redis.ask(&["CONFIG", "SET", "maxmemory", "0"]), "OK");
    };
    post_during_fault(settings, "noeviction", thrown, fill, empty).await
}
