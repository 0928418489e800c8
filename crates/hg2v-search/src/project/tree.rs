//! A tree of squares over points of a plane: what is far away acts as one (Barnes & Hut 1986).

use super::Point;

/// Points of a square that is divided no more.
const LEAF: usize = 8;

/// Squares are halved no more often than this, so that equal points end it.
const DEEPEST: u32 = 32;

struct Square {
    /// Where its points lie on average, and how many there are.
    centre: Point,
    mass: f64,
    width: f64,
    /// Its points, in the order of the tree.
    points: std::ops::Range<u32>,
    /// The first square after it that is not part of it.
    next: u32,
    leaf: bool,
}

/// The tree: squares in the order in which a walk meets them.
pub(super) struct Tree {
    squares: Vec<Square>,
    points: Vec<Point>,
}

impl Tree {
    pub(super) fn new(points: &[Point]) -> Tree {
        let mut low = [f64::INFINITY; 2];
        let mut high = [f64::NEG_INFINITY; 2];
        for point in points {
            for axis in 0..2 {
                low[axis] = low[axis].min(point[axis]);
                high[axis] = high[axis].max(point[axis]);
            }
        }
        let width = (high[0] - low[0]).max(high[1] - low[1]);
        let mut tree = Tree { squares: Vec::new(), points: points.to_vec() };
        tree.divide(0..points.len() as u32, low, width, DEEPEST);
        tree
    }

    fn divide(&mut self, range: std::ops::Range<u32>, low: Point, width: f64, depth: u32) {
        let own = &mut self.points[range.start as usize..range.end as usize];
        let mass = own.len() as f64;
        let sum = own.iter().fold([0.0; 2], |sum, p| [sum[0] + p[0], sum[1] + p[1]]);
        let leaf = own.len() <= LEAF || depth == 0;
        let at = self.squares.len();
        let centre = sum.map(|x| x / mass.max(1.0));
        self.squares.push(Square { centre, mass, width, points: range.clone(), next: 0, leaf });
        if !leaf {
            let half = 0.5 * width;
            let middle = low.map(|x| x + half);
            let quarter =
                |p: &Point| usize::from(p[0] >= middle[0]) + 2 * usize::from(p[1] >= middle[1]);
            // A stable sort: the order of points within a quarter is theirs.
            own.sort_by_key(quarter);
            let mut start = range.start;
            for part in 0..4 {
                let own = &self.points[start as usize..range.end as usize];
                let end = start + own.partition_point(|p| quarter(p) <= part) as u32;
                if end > start {
                    let corner = [
                        if part % 2 == 1 { middle[0] } else { low[0] },
                        if part >= 2 { middle[1] } else { low[1] },
                    ];
                    self.divide(start..end, corner, half, depth - 1);
                }
                start = end;
            }
        }
        self.squares[at].next = self.squares.len() as u32;
    }

    /// `Σ_j 1/(1 + d²)` and `Σ_j (y − y_j)/(1 + d²)²` over all points; squares that are
    /// less than `theta` of their distance wide count as one.
    pub(super) fn push(&self, y: Point, theta: f64) -> (f64, Point) {
        let (mut sum, mut force) = (0.0, [0.0; 2]);
        let mut add = |to: Point, mass: f64| {
            let d = [y[0] - to[0], y[1] - to[1]];
            let q = 1.0 / (1.0 + d[0] * d[0] + d[1] * d[1]);
            sum += mass * q;
            force[0] += mass * q * q * d[0];
            force[1] += mass * q * q * d[1];
        };
        let mut at = 0;
        while let Some(square) = self.squares.get(at) {
            let d = [y[0] - square.centre[0], y[1] - square.centre[1]];
            let far = square.width * square.width < theta * theta * (d[0] * d[0] + d[1] * d[1]);
            if far {
                add(square.centre, square.mass);
                at = square.next as usize;
            } else if square.leaf {
                let range = square.points.start as usize..square.points.end as usize;
                self.points[range].iter().for_each(|&point| add(point, 1.0));
                at = square.next as usize;
            } else {
                at += 1;
            }
        }
        (sum, force)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hg2v_math::linalg::vector::start_value;

    #[test]
    fn all_points_push_alike_and_far_squares_nearly_so() {
        let mut points: Vec<Point> =
            (0..500).map(|i| [start_value(2 * i), start_value(2 * i + 1)]).collect();
        points.extend([[0.25, 0.25]; 40]);
        let tree = Tree::new(&points);
        for &y in points.iter().step_by(37) {
            let naive = |f: &dyn Fn(f64, Point) -> f64| -> f64 {
                points
                    .iter()
                    .map(|p| {
                        let d = [y[0] - p[0], y[1] - p[1]];
                        f(1.0 / (1.0 + d[0] * d[0] + d[1] * d[1]), d)
                    })
                    .sum()
            };
            let expected =
                [naive(&|q, _| q), naive(&|q, d| q * q * d[0]), naive(&|q, d| q * q * d[1])];
            for (theta, tolerance) in [(0.0, 1e-9), (0.5, 2.0)] {
                let (sum, force) = tree.push(y, theta);
                for (ours, expected) in [sum, force[0], force[1]].into_iter().zip(expected) {
                    assert!((ours - expected).abs() < tolerance, "{theta}: {ours} {expected}");
                }
            }
        }
    }
}
