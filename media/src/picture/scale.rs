//! Scales pictures by area, row by row, and keeps only the row that is being computed in memory.

/// Scales rows of RGBA to another size. Each output pixel is the mean of the input pixels that it covers, weighted by
/// the covered area and by alpha.
pub(crate) struct Scaler {
    from: (u32, u32),
    to: (u32, u32),
    /// The numbers of input rows and output rows so far.
    came: u32,
    made: u32,
    /// The last input row at its new width, and the output row that is being computed. Both have red, green and blue
    /// premultiplied by alpha, and alpha.
    wide: Vec<[f32; 4]>,
    sums: Vec<[f32; 4]>,
}

impl Scaler {
    pub fn new(from: (u32, u32), to: (u32, u32)) -> Self {
        let row = vec![[0.0; 4]; to.0 as usize];
        Self { from, to, came: 0, made: 0, wide: row.clone(), sums: row }
    }

    /// Adds the next input row, and passes each completed output row to `done`.
    pub fn push(&mut self, row: &[u8], mut done: impl FnMut(&[[f32; 4]])) {
        self.widen(row);
        let (high, low) = (u64::from(self.from.1), u64::from(self.to.1));
        // In units of which an input row has `low` and an output row has `high`.
        let (start, end) = (u64::from(self.came) * low, u64::from(self.came + 1) * low);
        while self.made < self.to.1 {
            let (from, to) = (u64::from(self.made) * high, u64::from(self.made + 1) * high);
            let part = to.min(end).saturating_sub(from.max(start)) as f32 / high as f32;
            for (sum, pixel) in self.sums.iter_mut().zip(&self.wide) {
                *sum = [0, 1, 2, 3].map(|at| sum[at] + pixel[at] * part);
            }
            if to > end {
                break;
            }
            done(&self.sums);
            self.sums.fill([0.0; 4]);
            self.made += 1;
            if to == end {
                break;
            }
        }
        self.came += 1;
    }

    /// Scales the row to its new width.
    fn widen(&mut self, row: &[u8]) {
        let (wide, narrow) = (u64::from(self.from.0), u64::from(self.to.0));
        let mut pixels = row.chunks_exact(4).map(premultiplied);
        let (mut pixel, mut end) = ([0.0; 4], 0);
        for (place, made) in (0_u64..).zip(&mut self.wide) {
            let (from, to) = (place * wide, (place + 1) * wide);
            let (mut at, mut sum) = (from, [0.0; 4]);
            while at < to {
                if at >= end {
                    pixel = pixels.next().unwrap_or(pixel);
                    end += narrow;
                }
                let until = to.min(end);
                let part = (until - at) as f32 / wide as f32;
                sum = [0, 1, 2, 3].map(|at| sum[at] + pixel[at] * part);
                at = until;
            }
            *made = sum;
        }
    }
}

fn premultiplied(pixel: &[u8]) -> [f32; 4] {
    let alpha = f32::from(pixel[3]);
    let light = |at: usize| f32::from(pixel[at]) * alpha / 255.0;
    [light(0), light(1), light(2), alpha]
}

#[cfg(test)]
mod tests {
    use super::Scaler;

    fn scaled(from: (u32, u32), to: (u32, u32), pixels: &[u8]) -> Vec<[f32; 4]> {
        let mut made = Vec::new();
        let mut scaler = Scaler::new(from, to);
        for row in pixels.chunks_exact(from.0 as usize * 4) {
            scaler.push(row, |row| made.extend_from_slice(row));
        }
        made.iter().map(|pixel| pixel.map(f32::round)).collect()
    }

    const RED: [u8; 4] = [200, 0, 0, 255];
    const BLUE: [u8; 4] = [0, 0, 100, 255];

    #[test]
    fn the_same_size_is_the_same_picture() {
        let pixels = [RED, BLUE, BLUE, RED, RED, RED].concat();
        let expected: Vec<_> =
            pixels.chunks(4).map(|pixel| [0, 1, 2, 3].map(|at| f32::from(pixel[at]))).collect();
        assert_eq!(scaled((3, 2), (3, 2), &pixels), expected);
    }

    #[test]
    fn a_pixel_is_the_mean_of_what_it_covers() {
        let pixels = [RED, RED, BLUE, BLUE].concat();
        assert_eq!(scaled((2, 2), (1, 1), &pixels), [[100.0, 0.0, 50.0, 255.0]]);
        let row = [RED, BLUE, BLUE].concat();
        assert_eq!(
            scaled((3, 1), (2, 1), &row),
            [[133.0, 0.0, 33.0, 255.0], [0.0, 0.0, 100.0, 255.0]]
        );
        assert_eq!(scaled((1, 1), (2, 2), &RED), [[200.0, 0.0, 0.0, 255.0]; 4]);
        let column = [RED, BLUE].concat();
        assert_eq!(
            scaled((1, 2), (1, 3), &column),
            [[200.0, 0.0, 0.0, 255.0], [100.0, 0.0, 50.0, 255.0], [0.0, 0.0, 100.0, 255.0]]
        );
    }

    #[test]
    fn what_is_transparent_lends_no_colour() {
        let pixels = [RED, [0, 255, 0, 0]].concat();
        assert_eq!(scaled((2, 1), (1, 1), &pixels), [[100.0, 0.0, 0.0, 128.0]]);
    }
}
