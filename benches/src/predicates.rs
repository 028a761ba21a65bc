//! What asking hooks costs: this engine and its rivals, over the same hooks and the same calls.

mod calls;
mod cedar;
mod cel;
mod dice;
mod hooks;
mod measure;
mod node;
mod rego;
mod rival;
mod sets;
mod singles;
mod spl_set;
mod targets;

use node::Node;
use targets::Targets;

pub fn run() {
    let node = Node::install().map_err(|why| println!("\n(without cel-js: {why})")).ok();
    let mut targets = Targets::default();
    sets::run(node.as_ref(), &mut targets);
    singles::run(node.as_ref(), &mut targets);
    targets.print();
}
