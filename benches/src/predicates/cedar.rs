//! Cedar: a policy for each hook, and those that permit a request are those that hold. The request
//! is built from values, which is much cheaper than from JSON.

use cedar_policy::{
    Authorizer, Context, Entities, EntityUid, Policy, PolicyId, PolicySet, Request,
    RestrictedExpression,
};

use super::calls::Call;
use super::hooks::Hook;
use super::rival::Loaded;

/// Policies, and what they are asked with.
pub struct Policies {
    authorizer: Authorizer,
    entities: Entities,
    policies: PolicySet,
    uids: [EntityUid; 3],
}

pub fn load(hooks: &[Hook]) -> Box<dyn Loaded> {
    Box::new(Policies::of(hooks.iter().filter_map(|hook| Some((hook.number, hook.cedar()?)))))
}

impl Policies {
    pub fn of(sources: impl IntoIterator<Item = (usize, String)>) -> Self {
        let policy = |(number, source): (usize, String)| {
            Policy::parse(Some(PolicyId::new(number.to_string())), &source).expect("a policy")
        };
        let policies = PolicySet::from_policies(sources.into_iter().map(policy));
        let uid = |text: &str| text.parse().expect("an entity");
        Self {
            authorizer: Authorizer::new(),
            entities: Entities::empty(),
            policies: policies.expect("policies"),
            uids: [r#"Actor::"clerk""#, r#"Action::"returned""#, r#"Tool::"any""#].map(uid),
        }
    }

    /// Returns the request that a call is.
    pub fn request(&self, call: &Call) -> Request {
        let text = |text: &str| RestrictedExpression::new_string(text.to_owned());
        let args = RestrictedExpression::new_record([
            ("command".to_owned(), text("make -j2 all")),
            ("path".to_owned(), text(&call.path)),
        ]);
        // There are no floating-point numbers.
        let trust = RestrictedExpression::new_long((call.trust * 1000.0) as i64);
        let context = Context::from_pairs([
            ("tool".to_owned(), text(&call.tool)),
            ("status".to_owned(), text(call.status)),
            ("content".to_owned(), text(&call.content)),
            ("args".to_owned(), args.expect("a record")),
            ("trust_per_mille".to_owned(), trust),
        ]);
        let [principal, action, resource] = self.uids.clone();
        Request::new(principal, action, resource, context.expect("a context"), None)
            .expect("a request")
    }

    /// Puts the numbers of the policies that permit a request into `hits`.
    pub fn ask(&self, request: &Request, hits: &mut Vec<usize>) {
        let response = self.authorizer.is_authorized(request, &self.policies, &self.entities);
        let number = |id: &PolicyId| id.to_string().parse::<usize>().expect("a number");
        hits.extend(response.diagnostics().reason().map(number));
    }
}

impl Loaded for Policies {
    fn ask(&mut self, call: &Call, hits: &mut Vec<usize>) {
        let request = self.request(call);
        Self::ask(self, &request, hits);
    }
}
