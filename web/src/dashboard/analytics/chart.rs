//! Charts of metrics over time, as SVG that scales with its column and takes its colours from the page.
//!
//! An unknown value is a gap: the line ends before it and starts again after it, and its place is shaded.

use maud::{Markup, html};

use crate::admin::parts::number;

const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 140.0;
/// Kept free above the highest and below the lowest point.
const MARGIN: f64 = 8.0;

/// A value of a chart; `None` if it is unknown.
pub type Point = Option<i64>;

/// Renders a line chart; `first` and `last` are the labels of its ends.
pub fn line(name: &str, points: &[Point], (first, last): (&str, &str)) -> Markup {
    let known: Vec<i64> = points.iter().flatten().copied().collect();
    let (Some(least), Some(most)) = (known.iter().min(), known.iter().max()) else {
        return html! {
            figure.series {
                figcaption { strong { (name) } span.soft { "not known on any day" } }
            }
        };
    };
    let scale = Scale { least: *least, most: *most, places: points.len() };
    let measured = format!("known for {} of {}", known.len(), points.len());
    let label = format!(
        "{name}, {first} to {last}: at least {}, at most {}, {measured}",
        number(*least),
        number(*most)
    );
    html! {
        figure.series {
            figcaption { strong { (name) } span.soft { (number(*least)) " to " (number(*most)) " · " (measured) } }
            svg role="img" aria-label=(label) viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" {
                title { (label) }
                @for (from, to) in gaps(points) {
                    rect.gap x=(short(scale.left(from))) y="0" height=(HEIGHT) width=(short(scale.left(to) - scale.left(from))) {}
                }
                line.base x1="0" x2=(WIDTH) y1=(HEIGHT) y2=(HEIGHT) {}
                @for part in parts(points) { path.line d=(scale.path(&part)) {} }
            }
            p.ends.soft { span { (first) } span { (last) } }
        }
    }
}

/// Renders bars, each with its label; an unknown value shows its reason in place of a bar.
pub fn bars(name: &str, rows: &[(Markup, Point, &str)]) -> Markup {
    let most = rows.iter().filter_map(|(_, point, _)| *point).max().unwrap_or(0).max(1);
    html! {
        dl.bars aria-label=(name) {
            @for (label, point, reason) in rows {
                dt { (label) }
                dd {
                    @match point {
                        Some(value) => {
                            svg aria-hidden="true" viewBox="0 0 100 10" preserveAspectRatio="none" {
                                rect.done x="0" y="0" height="10" width=(short(share(*value, most) * 100.0)) {}
                            }
                            span { (number(*value)) }
                        }
                        None => { span.soft.unknown { (reason) } }
                    }
                }
            }
        }
    }
}

/// Maps points to the picture.
struct Scale {
    least: i64,
    most: i64,
    places: usize,
}

impl Scale {
    /// Returns the left edge of a place.
    fn left(&self, place: usize) -> f64 {
        float(place) / float(self.places.max(1)) * WIDTH
    }

    fn x(&self, place: usize) -> f64 {
        f64::midpoint(self.left(place), self.left(place + 1))
    }

    fn y(&self, value: i64) -> f64 {
        if self.most == self.least {
            return HEIGHT / 2.0;
        }
        let height = HEIGHT - 2.0 * MARGIN;
        HEIGHT - MARGIN - share(value - self.least, self.most - self.least) * height
    }

    /// Returns the path through neighbouring points; a single point is a dot.
    fn path(&self, part: &[(usize, i64)]) -> String {
        let at = |(place, value): &(usize, i64)| {
            format!("{} {}", short(self.x(*place)), short(self.y(*value)))
        };
        match part {
            [] => String::new(),
            [one] => format!("M{} h0", at(one)),
            [first, rest @ ..] => {
                let rest: Vec<_> = rest.iter().map(at).collect();
                format!("M{} L{}", at(first), rest.join(" L"))
            }
        }
    }
}

/// Returns the points in parts without gaps, each with its place.
fn parts(points: &[Point]) -> Vec<Vec<(usize, i64)>> {
    let placed: Vec<_> = points.iter().enumerate().collect();
    let parts = placed.split(|(_, point)| point.is_none()).filter(|part| !part.is_empty());
    let known = |part: &[(usize, &Point)]| {
        part.iter().filter_map(|(place, point)| Some((*place, (**point)?))).collect()
    };
    parts.map(known).collect()
}

/// Returns the gaps: the first place of each, and the place after it.
fn gaps(points: &[Point]) -> Vec<(usize, usize)> {
    let mut gaps: Vec<(usize, usize)> = Vec::new();
    for place in (0..points.len()).filter(|place| points[*place].is_none()) {
        match gaps.last_mut() {
            Some(last) if last.1 == place => last.1 = place + 1,
            _ => gaps.push((place, place + 1)),
        }
    }
    gaps
}

#[expect(clippy::cast_precision_loss, reason = "numbers of networks are far below 2^52")]
fn share(part: i64, whole: i64) -> f64 {
    part as f64 / whole.max(1) as f64
}

fn float(place: usize) -> f64 {
    f64::from(u32::try_from(place).unwrap_or(u32::MAX))
}

fn short(n: f64) -> String {
    format!("{n:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_no_zero_and_a_lone_point_is_seen() {
        let points = [Some(10), Some(20), None, None, Some(30), None];
        assert_eq!(parts(&points), [vec![(0, 10), (1, 20)], vec![(4, 30)]]);
        assert_eq!(gaps(&points), [(2, 4), (5, 6)]);
        let shown = line("Reach", &points, ("1 May", "6 May")).into_string();
        assert_eq!(shown.matches("<path").count(), 2);
        assert_eq!(shown.matches("class=\"gap\"").count(), 2);
        assert!(shown.contains("at least 10, at most 30, known for 3 of 6"), "{shown}");
        assert!(shown.contains("h0") && !shown.contains("NaN"));
    }

    #[test]
    fn nothing_known_is_said_and_not_drawn() {
        let shown = line("Views", &[None, None], ("a", "b")).into_string();
        assert!(shown.contains("not known on any day") && !shown.contains("<svg"));
        let even = line("Views", &[Some(0), Some(0)], ("a", "b")).into_string();
        assert!(even.contains("<path") && !even.contains("NaN"));
        let bars =
            bars("Posts", &[(html! { "One" }, None, "not given by the network")]).into_string();
        assert!(bars.contains("not given by the network") && !bars.contains("<rect"));
    }
}
