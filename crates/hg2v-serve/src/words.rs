//! How errors are worded: to those who send requests, and to whoever runs the server.

use hg2v::error::{Job, Limit, Opt, Wording};

/// To those who send graphs: they choose what they send, and nothing else.
pub(crate) struct Client;

impl Wording for Client {
    fn option(&self, option: Opt) -> String {
        match option {
            Opt::MAX_NODES => "--max-request-nodes".to_owned(),
            Opt::MAX_RECORD_BYTES | Opt::MAX_UNPACKED_BYTES => "--max-request-bytes".to_owned(),
            // What stands in an address goes by the library's name.
            other => other.to_string(),
        }
    }

    fn raise(&self, limit: Limit) -> Option<String> {
        let option = self.option(limit.option());
        Some(format!("start the server with a larger {option} if it really is that large"))
    }

    fn set(&self, option: Opt, _: &[&str]) -> Option<String> {
        (option == Opt::WEIGHTS).then(|| "send weights of at least 0".to_owned())
    }

    fn lower(&self, _: &[Opt]) -> Option<String> {
        None
    }

    fn give(&self, _: Opt) -> Option<String> {
        None
    }

    fn replace(&self) -> Option<String> {
        None
    }

    fn run(&self, _: Job) -> Option<String> {
        None
    }
}

/// To whoever started the server and reads its log.
pub(crate) struct Operator;

impl Wording for Operator {
    fn option(&self, option: Opt) -> String {
        format!("--{}", option.name().replace('_', "-"))
    }

    fn set(&self, option: Opt, values: &[&str]) -> Option<String> {
        let option = self.option(option);
        let given: Vec<String> = values.iter().map(|value| format!("{option} {value}")).collect();
        Some(format!("use {}", given.join(" or ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hg2v::error::{Error, Place, Problem};

    #[test]
    fn clients_hear_of_nothing_that_only_a_command_line_has() {
        for option in Opt::ADVISED {
            let said = [Client.set(option, &["x"]), Client.give(option), Client.lower(&[option])];
            for said in said.into_iter().flatten() {
                assert!(!said.contains("--"), "{option}: {said}");
            }
            assert!(Operator.option(option).starts_with("--"), "{option}");
        }
    }

    #[test]
    fn limits_of_requests_go_by_their_own_options() {
        let beyond = |limit| {
            let what = "the graph has more".into();
            let problem = Problem::Beyond { limit, found: None, allowed: 3, what, fix: None };
            problem.at("request", Place::Line(1))
        };
        let said = |error: Error| error.worded(&Client);
        let nodes = said(beyond(Limit::Nodes));
        assert!(nodes.contains("a larger --max-request-nodes"), "{nodes}");
        let bytes = said(beyond(Limit::RecordBytes));
        assert!(bytes.contains("a larger --max-request-bytes"), "{bytes}");
    }
}
