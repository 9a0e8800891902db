//! How contacts are cut into domains, and which domains may be swept at the same time.

use super::BlockMatrix;

/// Contacts in a domain: large enough to be worth a task, small enough for many tasks.
const DOMAIN: usize = 256;
/// Fewer contacts than this are one domain.
const LEAST: usize = 1024;

/// The order in which contacts are swept.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Order {
    /// The contact at each place.
    pub(super) contacts: Vec<u32>,
    /// Ranges of places, domain by domain; the domains of each colour share no block of W.
    pub(super) colours: Vec<Vec<std::ops::Range<usize>>>,
}

impl Order {
    /// It hangs on the problem alone, not on the number of threads. Small problems keep their order.
    pub(super) fn new(matrix: &BlockMatrix) -> Self {
        let rows = matrix.rows();
        if rows < LEAST {
            return Self { contacts: (0..rows as u32).collect(), colours: vec![vec![0..rows]] };
        }
        let walk = breadth_first(rows, |row| matrix.row(row).map(|(column, _)| column));
        let domains = rows.div_ceil(DOMAIN);
        let mut domain_of = vec![0_usize; rows];
        for (place, &contact) in walk.iter().enumerate() {
            domain_of[contact as usize] = place * domains / rows;
        }
        let colour_of = colour(matrix, &domain_of, domains);
        let count = colour_of.iter().max().map_or(0, |most| most + 1);
        let mut members: Vec<Vec<u32>> = vec![vec![]; domains];
        for &contact in &walk {
            members[domain_of[contact as usize]].push(contact);
        }
        let (mut contacts, mut colours) = (Vec::with_capacity(rows), vec![vec![]; count]);
        for (wanted, ranges) in colours.iter_mut().enumerate() {
            for domain in (0..domains).filter(|&domain| colour_of[domain] == wanted) {
                let start = contacts.len();
                contacts.append(&mut members[domain]);
                ranges.push(start..contacts.len());
            }
        }
        Self { contacts, colours }
    }
}

/// Contacts from neighbour to neighbour (Cuthill and McKee 1969), so that near places share blocks.
pub(super) fn breadth_first<I: Iterator<Item = usize>>(
    rows: usize,
    neighbours: impl Fn(usize) -> I,
) -> Vec<u32> {
    let degree: Vec<usize> = (0..rows).map(|row| neighbours(row).count()).collect();
    let mut starts: Vec<u32> = (0..rows as u32).collect();
    starts.sort_by_key(|&row| (degree[row as usize], row));
    let (mut walk, mut seen) = (Vec::with_capacity(rows), vec![false; rows]);
    let mut next: Vec<u32> = vec![];
    for start in starts {
        if std::mem::replace(&mut seen[start as usize], true) {
            continue;
        }
        let mut head = walk.len();
        walk.push(start);
        while head < walk.len() {
            next.clear();
            for column in neighbours(walk[head] as usize) {
                if !std::mem::replace(&mut seen[column], true) {
                    next.push(column as u32);
                }
            }
            next.sort_by_key(|&row| (degree[row as usize], row));
            walk.extend(&next);
            head += 1;
        }
    }
    walk
}

/// The least colour for each domain that none of its neighbours has.
fn colour(matrix: &BlockMatrix, domain_of: &[usize], domains: usize) -> Vec<usize> {
    let mut neighbours: Vec<Vec<usize>> = vec![vec![]; domains];
    for row in 0..matrix.rows() {
        let own = domain_of[row];
        for (column, _) in matrix.row(row) {
            let other = domain_of[column];
            if other != own {
                neighbours[own].push(other);
            }
        }
    }
    let mut colours: Vec<usize> = Vec::with_capacity(domains);
    for list in &mut neighbours {
        list.sort_unstable();
        list.dedup();
        let taken: Vec<usize> = list.iter().filter_map(|&other| colours.get(other).copied()).collect();
        colours.push((0..).find(|candidate| !taken.contains(candidate)).unwrap_or(0));
    }
    colours
}

#[cfg(test)]
mod tests {
    use glam::DMat3;

    use super::*;

    #[test]
    fn domains_of_one_colour_share_nothing_and_all_contacts_have_a_place() {
        // A ring of contacts, each touching the next two, numbered by a stride.
        let rows = 5000;
        let name = |index: usize| (index % rows) * 1999 % rows;
        let triplets = (0..rows)
            .flat_map(|index| (0..5).map(move |near| (name(index + 2), name(index + near), DMat3::IDENTITY)));
        let matrix = BlockMatrix::from_triplets(rows, triplets).unwrap();
        let order = Order::new(&matrix);
        let mut sorted = order.contacts.clone();
        sorted.sort_unstable();
        assert!(sorted.iter().enumerate().all(|(index, &contact)| index == contact as usize));
        assert!(order.colours.len() <= 4, "{}", order.colours.len());
        let mut domain_of = vec![usize::MAX; rows];
        for domains in &order.colours {
            domain_of.fill(usize::MAX);
            for (domain, range) in domains.iter().enumerate() {
                order.contacts[range.clone()]
                    .iter()
                    .for_each(|&contact| domain_of[contact as usize] = domain);
            }
            for row in (0..rows).filter(|&row| domain_of[row] != usize::MAX) {
                for (column, _) in matrix.row(row) {
                    assert!(domain_of[column] == usize::MAX || domain_of[column] == domain_of[row]);
                }
            }
        }
    }
}
