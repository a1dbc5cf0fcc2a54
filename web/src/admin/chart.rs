//! Charts, as SVG that scales with its column and takes its colours from the page.

use fanfare_ops::ops::queues::ChartPoint;
use maud::{Markup, html};

use super::parts::number;

const WIDTH: i64 = 300;
const HEIGHT: i64 = 60;

/// Renders finished work as columns (failures on top) and waiting work as a line; `name` and `over` describe it for
/// screen readers.
#[must_use]
pub fn chart(name: &str, over: &str, step: &str, points: &[ChartPoint]) -> Markup {
    let most = points.iter().map(|point| point.done + point.failed).max().unwrap_or(0);
    let deepest = points.iter().map(|point| point.depth).max().unwrap_or(0);
    let words = match deepest {
        0 => format!("{over}: at most {} in {step}", number(most)),
        _ => format!("{over}: at most {} in {step}, {} waiting", number(most), number(deepest)),
    };
    let label = format!("{name}. {words}");
    html! {
        figure.chart {
            svg role="img" aria-label=(label) viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" {
                title { (label) }
                line.base x1="0" x2=(WIDTH) y1=(HEIGHT) y2=(HEIGHT) {}
                @for (place, point) in points.iter().enumerate() { (column(place, points.len(), point, most)) }
                @if deepest > 0 { polyline.depth points=(line(points, deepest)) {} }
            }
            figcaption.soft { (words) }
        }
    }
}

fn column(place: usize, steps: usize, point: &ChartPoint, most: i64) -> Markup {
    let (done, failed) = (height(point.done, most), height(point.failed, most));
    let (x, width) = (at(place, steps), (at(place + 1, steps) - at(place, steps)) * 0.8);
    let base = f(HEIGHT);
    html! {
        @if done > 0.0 {
            rect.done x=(short(x)) width=(short(width)) y=(short(base - done)) height=(short(done)) {}
        }
        @if failed > 0.0 {
            rect.failed x=(short(x)) width=(short(width)) y=(short(base - done - failed)) height=(short(failed)) {}
        }
    }
}

fn line(points: &[ChartPoint], deepest: i64) -> String {
    let point = |(place, point): (usize, &ChartPoint)| {
        let x = f64::midpoint(at(place, points.len()), at(place + 1, points.len()));
        format!("{},{}", short(x), short(f(HEIGHT) - height(point.depth, deepest)))
    };
    points.iter().enumerate().map(point).collect::<Vec<_>>().join(" ")
}

/// Returns the height of a value; anything above zero is visible.
fn height(n: i64, most: i64) -> f64 {
    if n == 0 || most == 0 { 0.0 } else { (f(n) / f(most) * f(HEIGHT - 4)).max(1.5) }
}

fn at(place: usize, steps: usize) -> f64 {
    let place = i64::try_from(place).unwrap_or(0);
    f(place) / f(i64::try_from(steps).unwrap_or(1).max(1)) * f(WIDTH)
}

#[expect(clippy::cast_precision_loss, reason = "counts of a minute and places in a picture")]
fn f(n: i64) -> f64 {
    n as f64
}

fn short(n: f64) -> String {
    format!("{n:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_shows_what_happened_and_says_it_in_words() {
        let busy = ChartPoint { done: 10, failed: 5, depth: 3, ..ChartPoint::default() };
        let shown =
            chart("Posts", "Last hour", "a minute", &[ChartPoint::default(), busy]).into_string();
        assert_eq!(shown.matches("<rect").count(), 2);
        assert!(shown.contains("Posts. Last hour: at most 15 in a minute, 3 waiting"), "{shown}");
        assert!(!shown.contains("NaN"));
        let idle = chart("Posts", "Last hour", "a minute", &[ChartPoint::default()]).into_string();
        assert_eq!(idle.matches("<rect").count(), 0);
    }
}
