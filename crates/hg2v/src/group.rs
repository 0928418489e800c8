//! Things sorted by what they belong to: rows by graph, nodes by super-node.

/// Positions in a column, by group: group `g` has `order[starts[g]..starts[g + 1]]`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Groups {
    pub(crate) starts: Vec<usize>,
    pub(crate) order: Vec<u32>,
}

impl Groups {
    /// Sorts the positions of `group_of` by group, keeping their order within one
    /// (a counting sort). Groups are below `num_groups`, positions below 2³².
    pub(crate) fn new(num_groups: usize, group_of: &[u32]) -> Groups {
        let mut starts = vec![0usize; num_groups + 1];
        for &group in group_of {
            starts[group as usize + 1] += 1;
        }
        for group in 0..num_groups {
            starts[group + 1] += starts[group];
        }
        let mut next = starts.clone();
        let mut order = vec![0; group_of.len()];
        for (position, &group) in group_of.iter().enumerate() {
            let slot = &mut next[group as usize];
            order[*slot] = position as u32;
            *slot += 1;
        }
        Groups { starts, order }
    }

    /// The positions of `group`, ascending.
    pub(crate) fn of(&self, group: usize) -> &[u32] {
        &self.order[self.starts[group]..self.starts[group + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_ascend_within_each_group() {
        let groups = Groups::new(4, &[2, 0, 2, 3, 0]);
        let all: Vec<_> = (0..4).map(|g| groups.of(g)).collect();
        assert_eq!(all, [&[1, 4][..], &[], &[0, 2], &[3]]);
    }
}
