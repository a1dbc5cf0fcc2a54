//! The `settings` of a post on a Business Profile; names as in Google's own API, in lower case.

use serde_json::Value;

use super::{EVENT_TITLE_MAX, LABELS};
use crate::{Shape, settings::settings};

settings! {
    /// The settings of a post.
    Settings {
        /// Language of the text as a BCP 47 tag, for example en or pt-BR; the location's own unless set.
        optional language_code: Option<String> = Shape::Id { min: 2, max: 35 },
        /// A button below the post. An offer has none: it leads to `redeem_online_url`.
        optional call_to_action: Option<CallToAction> = Shape::Object(CallToAction::FIELDS),
        /// The event and its time; of an offer, its name and how long it holds.
        optional event: Option<Event> = Shape::Object(Event::FIELDS),
        /// The way an offer is taken up.
        optional offer: Option<Offer> = Shape::Object(Offer::FIELDS),
        /// The recurrence of an event or an offer, as Google's API takes it; it is passed on as it is.
        optional recurrence_info: Option<Value> = Shape::Foreign,
    }

    /// A button.
    CallToAction {
        /// The action on the button. `CALL` calls the location's own number.
        required action_type: String = Shape::Choice(LABELS),
        /// The address that it opens; not for `CALL`.
        optional url: Option<String> = Shape::Url,
    }

    /// An event, or the frame of an offer.
    Event {
        /// Its name.
        required title: String = Shape::Text { min: 1, max: EVENT_TITLE_MAX },
        /// From when to when, by the clocks where the location is.
        required schedule: Schedule = Shape::Object(Schedule::FIELDS),
    }

    /// From when to when.
    Schedule {
        /// First day.
        required start_date: Date = Shape::Object(Date::FIELDS),
        /// Time of day at which it starts; the whole day unless set.
        optional start_time: Option<TimeOfDay> = Shape::Object(TimeOfDay::FIELDS),
        /// Last day.
        required end_date: Date = Shape::Object(Date::FIELDS),
        /// Time of day at which it ends.
        optional end_time: Option<TimeOfDay> = Shape::Object(TimeOfDay::FIELDS),
    }

    /// A day.
    Date {
        /// Year.
        required year: i32 = Shape::Integer { min: 2_000, max: 9_999 },
        /// Month.
        required month: u32 = Shape::Integer { min: 1, max: 12 },
        /// Day of the month.
        required day: u32 = Shape::Integer { min: 1, max: 31 },
    }

    /// A time of day.
    TimeOfDay {
        /// Hour.
        required hours: u32 = Shape::Integer { min: 0, max: 23 },
        /// Minute; 0 unless set.
        optional minutes: u32 = Shape::Integer { min: 0, max: 59 },
    }

    /// The way an offer is taken up.
    Offer {
        /// Code to name at the counter or to type in.
        optional coupon_code: Option<String> = Shape::Text { min: 1, max: 58 },
        /// The address at which it is taken up.
        optional redeem_online_url: Option<String> = Shape::Url,
        /// Terms and conditions.
        optional terms_conditions: Option<String> = Shape::Text { min: 1, max: 5_000 },
    }
}
