//! The `Retry-After` header (RFC 9110, section 10.2.3).

use std::time::Duration;

use chrono::{DateTime, NaiveDateTime, Utc};

/// The longest accepted wait. A longer one is a mistake or an attack, and could overflow a timestamp.
const MAX_WAIT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Returns the wait that `value` asks for. A date is compared with `date`, the clock of the server, if it was sent.
#[expect(
    clippy::disallowed_methods,
    reason = "a network without a Date is believed to share our time"
)]
pub(crate) fn parse(value: &str, date: Option<&str>) -> Option<Duration> {
    let value = value.trim();
    // Some servers send fractional seconds.
    if let Ok(seconds) = value.parse::<f64>() {
        return (seconds >= 0.0)
            .then(|| Duration::from_secs_f64(seconds.min(MAX_WAIT.as_secs_f64())));
    }
    let until = http_date(value)?;
    let now = date.and_then(http_date).unwrap_or_else(Utc::now);
    Some((until - now).to_std().unwrap_or_default().min(MAX_WAIT))
}

/// Parses an HTTP date in any of its three forms (RFC 9110, section 5.6.7).
pub(crate) fn http_date(text: &str) -> Option<DateTime<Utc>> {
    if let Ok(date) = DateTime::parse_from_rfc2822(text) {
        return Some(date.to_utc());
    }
    ["%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"]
        .iter()
        .find_map(|form| NaiveDateTime::parse_from_str(text, form).ok())
        .map(|date| date.and_utc())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{MAX_WAIT, parse};

    const DATE: Option<&str> = Some("Sun, 06 Nov 1994 08:49:37 GMT");

    #[test]
    fn seconds_are_taken_as_they_are() {
        assert_eq!(parse("120", None), Some(Duration::from_secs(120)));
        assert_eq!(parse(" 0 ", None), Some(Duration::ZERO));
        assert_eq!(parse("0.65", None), Some(Duration::from_millis(650)));
        assert_eq!(parse("1e300", None), Some(MAX_WAIT));
        assert_eq!(parse("99999999999999999999", None), Some(MAX_WAIT));
        for bad in ["-1", "", "soon", "NaN", "12 s"] {
            assert_eq!(parse(bad, None), None, "{bad}");
        }
    }

    #[test]
    fn dates_of_all_three_forms_are_measured_by_the_servers_clock() {
        let forms = [
            "Sun, 06 Nov 1994 08:50:07 GMT",
            "Sunday, 06-Nov-94 08:50:07 GMT",
            "Sun Nov  6 08:50:07 1994",
        ];
        for form in forms {
            assert_eq!(parse(form, DATE), Some(Duration::from_secs(30)), "{form}");
        }
        assert_eq!(parse("Sun, 06 Nov 1994 08:49:00 GMT", DATE), Some(Duration::ZERO));
        assert_eq!(parse("Sun, 06 Nov 1994 08:49:00 GMT", None), Some(Duration::ZERO));
        assert_eq!(parse("Fri, 31 Dec 9999 23:59:59 GMT", None), Some(MAX_WAIT));
    }
}
