//! Requests that no one sees on the network, read inside the JVM.

use crate::harness::{Place, record_under_load, wait_for};
use helenus_needs::{need, program};
use std::process::Command;

fn keytool(place: &Place, arguments: &str) {
    let output =
        Command::new("keytool").current_dir(place.path("")).args(arguments.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "keytool {arguments}\n{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn requests_in_tls_are_read_inside_the_jvm() {
    need!(program("keytool"));
    let place = Place::new();
    let address = "127.0.30.7";
    let store = "-alias node -keystore node.p12 -storetype PKCS12 -storepass secret1";
    keytool(&place, &format!("-genkeypair {store} -keyalg EC -dname CN=node -ext san=ip:{address}"));
    keytool(&place, &format!("-exportcert {store} -rfc -file node.pem"));
    let encryption = format!(
        "--set client_encryption_options.enabled=true --set client_encryption_options.keystore={} \
         --set client_encryption_options.keystore_password=secret1 --set client_encryption_options.store_type=PKCS12",
        place.path("node.p12").display()
    );
    place.well(&format!("up --name encrypted --address {address} --heap 768m {encryption}"));
    let load = format!("keyvalue/mixed --tls-ca {} --rate 150", place.path("node.pem").display());

    // Connections that begin while it is recorded.
    record_under_load(&place, "whole", address, &format!("{load} --for 6s"), |_| {});
    let expected = place.ask("whole", "select count(*) from requests");
    let lost = place.ask("whole", "select sum(lost) from sources where source = 'wire'");
    let seen = "select count(*) from wire where opcode = 'EXECUTE' and statement like '% helenus.keyvalue %'";
    let seen = place.ask("whole", seen);
    assert!(seen + lost >= expected && (lost > 0 || seen == expected), "{seen} of {expected} seen, {lost} lost");
    assert_eq!(place.ask("whole", "select count(*) from sources where source = 'wire' and provider <> 'jvm'"), 0);

    // Connections that are open, again and again.
    let driven = place.start(&format!("load {load} --for 25s --node {address} -o driven"));
    wait_for("requests to be sent", || crate::harness::size_of(&place.path("driven/requests")) > 0);
    for round in 0..3 {
        let name = format!("round{round}");
        place.well(&format!("record --node {address} --requests jvm --stacks off --for 2s -o {name}"));
        let named =
            "select count(*) from wire where opcode = 'EXECUTE' and statement like 'SELECT % helenus.keyvalue %'";
        assert!(place.ask(&name, named) > 0, "the statement of what was prepared before is known");
    }
    assert_eq!(place.json("explain round0 --json")["provider"], "jvm");
    let driven = driven.end();
    assert!(driven.status.success(), "{}", driven.err);
    assert_eq!(place.ask("driven", "select count(*) from requests where outcome <> 'ok'"), 0);
}
