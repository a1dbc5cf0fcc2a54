use fanfare_entities::{AccountId, business_profile};
use serde_json::Value;
use serde_json::json;

use super::{
    checks::{DAY, checks},
    *,
};

fn profile(location: Value) -> business_profile::Model {
    business_profile::Model {
        id: fanfare_entities::ProfileId(1),
        workspace_id: fanfare_entities::WorkspaceId::fresh(),
        account_id: AccountId(1),
        location: Some(location),
        verified: Some(true),
        last_post_at: Some(95 * DAY),
        posts_known: true,
        average_rating: Some(4.2),
        total_reviews: Some(5),
        backfilled: true,
        synced_at: Some(1),
        facts_at: Some(1),
        due_at: None,
        fencing_token: 0,
        attempts: 0,
        lease_expirations: 0,
        created_at: 0,
        updated_at: 0,
    }
}

#[test]
fn the_weights_make_a_hundred_and_nothing_known_makes_no_score() {
    let nothing = Facts { profile: None, reviews: Vec::new(), media: Vec::new(), now: 100 * DAY };
    let all = checks(&nothing);
    assert_eq!(all.iter().map(|check| check.weight).sum::<u32>(), 100);
    assert!(all.iter().all(|check| check.status == CheckStatus::Unknown));
    assert_eq!(score(&all), None);
}

#[test]
fn a_check_passes_warns_or_fails_at_its_limits() {
    let record = json!({
        "categories": {"primaryCategory": {"displayName": "Store"}},
        "profile": {"description": "Short"},
        "websiteUri": "http://example.org",
        "phoneNumbers": {"primaryPhone": "1"},
    });
    let facts = Facts {
        profile: Some(profile(record)),
        reviews: Vec::new(),
        media: Vec::new(),
        now: 100 * DAY,
    };
    let all = checks(&facts);
    let status = |id: &str| all.iter().find(|check| check.id == id).unwrap().status;
    for (id, wanted) in [
        ("verified", CheckStatus::Pass),
        ("primary_category", CheckStatus::Pass),
        ("more_categories", CheckStatus::Fail),
        ("description", CheckStatus::Warn),
        ("website", CheckStatus::Warn),
        ("hours", CheckStatus::Fail),
        ("recent_post", CheckStatus::Pass),
        ("rating", CheckStatus::Pass),
        ("review_count", CheckStatus::Warn),
        ("recent_review", CheckStatus::Fail),
        ("reply_rate", CheckStatus::Unknown),
        ("profile_photo", CheckStatus::Fail),
    ] {
        assert_eq!(status(id), wanted, "{id}");
    }
    // 12 + 6 + 5 + 6 + 6 pass, 8 + 5 + 4 warn, out of 94.
    assert_eq!(score(&all), Some(46));
}

#[test]
fn hours_of_one_day_say_that_the_others_are_closed() {
    let open = |day: &str| json!({"openDay": day, "closeDay": day});
    for (periods, wanted, detail) in [
        (json!(null), CheckStatus::Fail, "None are said."),
        (json!([]), CheckStatus::Fail, "None are said."),
        (json!([open("MONDAY")]), CheckStatus::Pass, "It is there."),
        (json!([open("MONDAY"), open("SUNDAY")]), CheckStatus::Pass, "It is there."),
    ] {
        let record = json!({"regularHours": {"periods": periods}});
        let profile = Some(profile(record));
        let facts = Facts { profile, reviews: Vec::new(), media: Vec::new(), now: 100 * DAY };
        let all = checks(&facts);
        let hours = all.iter().find(|check| check.id == "hours").unwrap();
        assert_eq!((hours.status, hours.detail.as_str()), (wanted, detail));
    }
}
