//! Requests of clients that are not ours, and requests that no one sees on the network.

use crate::harness::{Place, record_under_load, size_of, wait_for};
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
    wait_for("requests to be sent", || size_of(&place.path("driven/requests")) > 0);
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

/// Two threads of another driver that insert and select, and count what they did.
const FOREIGN: &str = r#"
import sys, threading
from cassandra.cluster import Cluster

cluster = Cluster([sys.argv[1]], protocol_version=int(sys.argv[2]))
session = cluster.connect()
session.execute("CREATE KEYSPACE IF NOT EXISTS foreign_shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
session.execute("CREATE TABLE IF NOT EXISTS foreign_shop.orders (id int PRIMARY KEY, note text)")
session.set_keyspace("foreign_shop")
insert = session.prepare("INSERT INTO orders (id, note) VALUES (?, ?)")
def work(first):
    for id in range(first, first + 200):
        session.execute(insert, (id, "n" * id))
        assert session.execute(f"SELECT note FROM orders WHERE id = {id}").one().note == "n" * id
threads = [threading.Thread(target=work, args=(first,)) for first in (0, 1000)]
for thread in threads: thread.start()
for thread in threads: thread.join()
cluster.shutdown()
"#;

#[test]
fn every_request_of_another_driver_is_recorded() {
    let python = std::env::var("HELENUS_TEST_PYTHON").unwrap_or("python3".to_string());
    let has_driver = Command::new(&python).args(["-c", "import cassandra.cluster, lz4"]).output();
    need!(match has_driver {
        Ok(output) if output.status.success() => Ok(()),
        _ => Err("it needs the Python driver of Cassandra; `make test` installs it".to_string()),
    });
    let place = Place::new();
    let address = "127.0.30.9";
    place.well(&format!("up --name foreign --address {address} --heap 768m"));
    for (provider, protocol) in [("wire", "5"), ("jvm", "4")] {
        let name = format!("foreign-{provider}");
        let record = place.start(&format!("record --node {address} --requests {provider} --stacks off -o {name}"));
        wait_for("the sources to record", || record.has_said("Ctrl-C ends it"));
        let client = Command::new(&python).args(["-c", FOREIGN, address, protocol]).output().unwrap();
        assert!(client.status.success(), "{}", String::from_utf8_lossy(&client.stderr));
        record.signal(libc::SIGINT);
        let record = record.end();
        assert!(record.status.success(), "{}", record.err);
        // A busy machine may lose some, which is counted.
        let lost = place.ask(&name, "select sum(lost) from sources where source = 'wire'");
        for statement in ["INSERT INTO orders (id, note) VALUES (?, ?)", "SELECT note FROM orders WHERE id = ?"] {
            let count = "select count(*) from all_requests where keyspace = 'foreign_shop' and table_name = 'orders'";
            let seen = place.ask(&name, &format!("{count} and client = '127.0.0.1' and statement = '{statement}'"));
            assert!(seen <= 400 && seen + lost >= 400, "{name}: {seen} of 400 {statement}, {lost} lost");
        }
        let clients = place.well(&format!("clients {name} --json"));
        assert!(clients.contains("Python"), "{clients}");
    }
}
