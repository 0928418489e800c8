//! Connected components.

use super::Graph;

/// The connected components of a graph, numbered by their smallest node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    /// The component of each node.
    of_node: Vec<u32>,
    /// How many nodes each component has.
    sizes: Vec<u32>,
}

impl Components {
    /// Finds the components, walking from each node that was not seen yet.
    ///
    /// # Complexity
    /// Time and space linear in nodes and edges.
    pub fn of(graph: &Graph) -> Components {
        const UNSEEN: u32 = u32::MAX;
        let mut of_node = vec![UNSEEN; graph.num_nodes()];
        let mut sizes = Vec::new();
        let mut ahead = Vec::new();
        for start in 0..graph.num_nodes() {
            if of_node[start] != UNSEEN {
                continue;
            }
            let component = sizes.len() as u32;
            let mut size = 0;
            of_node[start] = component;
            ahead.push(start as u32);
            while let Some(node) = ahead.pop() {
                size += 1;
                for &next in graph.neighbors(node as usize) {
                    if of_node[next as usize] == UNSEEN {
                        of_node[next as usize] = component;
                        ahead.push(next);
                    }
                }
            }
            sizes.push(size);
        }
        Components { of_node, sizes }
    }

    /// How many components.
    pub fn count(&self) -> usize {
        self.sizes.len()
    }

    /// The component of each node.
    pub fn of_node(&self) -> &[u32] {
        &self.of_node
    }

    /// The nodes of each component, ascending, and each node's place among its own.
    pub fn members(&self) -> (Vec<Vec<usize>>, Vec<usize>) {
        let mut members = vec![Vec::new(); self.count()];
        let mut place = vec![0; self.of_node.len()];
        for (node, &component) in self.of_node.iter().enumerate() {
            place[node] = members[component as usize].len();
            members[component as usize].push(node);
        }
        (members, place)
    }

    /// How many nodes each component has.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }
}
