//! From the answers of the hooks to one decision.

use super::{Block, Decision, PolicyHook, Question, Ran, Reply, Verdict};

/// The most bytes that hooks may add to a prompt, all of them together.
const CONTEXT_BYTES: usize = 16 * 1024;

/// Asks one hook: its handler is an effect, so somebody else's.
pub trait Handle {
    /// Returns what a hook answered to a question.
    fn ask(&mut self, hook: &PolicyHook, question: &Question<'_>) -> Ran;
}

/// Asks the hooks that a question concerns, one after another, until one blocks.
///
/// The words of all are joined by an empty line; a block drops them. Where no hook is concerned,
/// nothing is asked.
pub fn decide(hooks: &[PolicyHook], question: &Question<'_>, handle: &mut dyn Handle) -> Verdict {
    let mut verdict = Verdict::silent();
    let mut contexts = Vec::new();
    for hook in hooks.iter().filter(|hook| hook.concerns(question)) {
        let ran = handle.ask(hook, question);
        let block = match &ran.reply {
            Reply::Block { reason } => {
                let event = hook.source.event;
                Some(Block { seam: hook.seam, event, reason: reason.clone() })
            }
            Reply::Proceed { context } => {
                contexts.extend(context.clone());
                None
            }
            Reply::Failed { .. } => None,
            Reply::Cancelled => {
                verdict.ran.push(ran);
                return verdict;
            }
        };
        verdict.ran.push(ran);
        if let Some(block) = block {
            verdict.decision = Decision::Block(block);
            return verdict;
        }
    }
    let context = (!contexts.is_empty()).then(|| cut(contexts.join("\n\n")));
    verdict.decision = Decision::Proceed { context };
    verdict
}

/// Cuts what is too long to be added, and says so.
fn cut(mut context: String) -> String {
    if context.len() > CONTEXT_BYTES {
        let len = context.len();
        context.truncate(context.floor_char_boundary(CONTEXT_BYTES));
        context.push_str(&format!("\n[cut: {len} bytes, of which {CONTEXT_BYTES} are shown]"));
    }
    context
}

#[cfg(test)]
mod tests;
