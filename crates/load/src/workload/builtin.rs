//! The built-in workloads, which the binary contains.

use super::Workload;
use crate::Error;
use helenus_notation::did_you_mean;

const BUILT_IN: [(&str, &str); 5] = [
    ("counter", include_str!("../../workloads/counter.toml")),
    ("keyvalue", include_str!("../../workloads/keyvalue.toml")),
    ("lightweight", include_str!("../../workloads/lightweight.toml")),
    ("timeseries", include_str!("../../workloads/timeseries.toml")),
    ("wide-rows", include_str!("../../workloads/wide-rows.toml")),
];

pub(super) fn text(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

pub(super) fn list() -> Vec<(&'static str, String)> {
    let describe = |(name, text): &(&'static str, &str)| {
        let description = Workload::from_toml(name, name, text).map(|workload| workload.description);
        (*name, description.unwrap_or_default())
    };
    BUILT_IN.iter().map(describe).collect()
}

pub(super) fn unknown(name: &str) -> Error {
    Error::NoWorkload {
        name: name.to_string(),
        suggestion: did_you_mean(name, BUILT_IN.iter().map(|(known, _)| *known)),
        known: BUILT_IN.map(|(known, _)| known).join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_valid_and_described() {
        for (name, text) in BUILT_IN {
            let workload = Workload::from_toml(name, name, text).unwrap();
            assert!(!workload.description.is_empty());
            assert!(workload.populate.is_some());
            for mix in ["write", "read", "mixed"] {
                assert!(workload.mix_names().contains(&mix), "{name}/{mix}");
                Workload::open(&format!("{name}/{mix}")).unwrap();
            }
        }
        assert_eq!(list().len(), BUILT_IN.len());
    }

    #[test]
    fn an_unknown_one_is_told_what_there_is() {
        insta::assert_snapshot!(
            ["keyvalu", "keyvalue/raed", "keyvalue/write=1,reed=2", "keyvalue/write=x", "missing.toml", "nothing"]
                .map(|name| Workload::open(name).unwrap_err().to_string())
                .join("\n")
        );
    }
}
