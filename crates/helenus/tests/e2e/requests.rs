//! Requests of foreign clients, and requests that the network does not show.

use crate::clients::{Client, GOCQL, JAVA, PYTHON};
use crate::harness::{Place, record_under_load, size_of, wait_for};
use helenus_needs::{need, program};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

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
    keytool(&place, &format!("-genkeypair {store} -keyalg EC -dname CN=node -ext san=ip:{address},dns:localhost"));
    keytool(&place, &format!("-exportcert {store} -rfc -file node.pem"));
    let encryption = format!(
        "--set client_encryption_options.enabled=true --set client_encryption_options.keystore={} \
         --set client_encryption_options.keystore_password=secret1 --set client_encryption_options.store_type=PKCS12",
        place.path("node.p12").display()
    );
    place.well(&format!("up --name encrypted --address {address} --heap 768m {encryption}"));
    let load = format!("keyvalue/mixed --population 20k --tls-ca {} --rate 150", place.path("node.pem").display());

    // Connections that begin while it is recorded.
    record_under_load(&place, "whole", address, &format!("{load} --for 6s"), |_| {});
    let expected = place.ask("whole", "select count(*) from requests");
    let lost = place.ask("whole", "select sum(lost) from sources where source = 'wire'");
    let seen = "select count(*) from wire where opcode = 'EXECUTE' and statement like '% helenus.keyvalue %'";
    let seen = place.ask("whole", seen);
    assert!(seen + lost >= expected && (lost > 0 || seen == expected), "{seen} of {expected} seen, {lost} lost");
    assert_eq!(place.ask("whole", "select count(*) from sources where source = 'wire' and provider <> 'jvm'"), 0);

    let (certificate, store) = (place.path("node.pem"), place.path("node.p12"));
    let (certificate, store) = (certificate.to_str().unwrap(), store.to_str().unwrap());
    let clients = [(&GOCQL, vec!["4", certificate]), (&JAVA, vec!["5", store, "secret1"])];
    every_request_is_recorded(&place, address, "jvm", &clients);

    // Connections that are open before the recording.
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
    // A busy machine makes some wait for too long.
    let failed = "select count(*) from requests where outcome <> 'ok' and outcome not like '%timeout'";
    assert_eq!(place.ask("driven", failed), 0);
}

/// Records while clients insert and select 400 rows each, one after the other, and expects each of their requests with statement,
/// client and times.
fn every_request_is_recorded(place: &Place, address: &str, provider: &str, clients: &[(&Client, Vec<&str>)]) {
    let mut commands = Vec::new();
    for (client, arguments) in clients {
        match client.command() {
            Ok(mut command) => {
                command.arg(address).args(arguments);
                commands.push((*client, command));
            }
            Err(reason) => helenus_needs::skipped(&reason),
        }
    }
    if commands.is_empty() {
        return;
    }
    let name = format!("foreign-{provider}");
    let record = place.start(&format!("record --node {address} --requests {provider} --stacks off -o {name}"));
    wait_for("the sources to record", || record.has_said("Ctrl-C ends it"));
    let mut ran = Vec::new();
    for (client, mut command) in commands {
        let began = unix_ns();
        let output = command.output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {message}", client.driver);
        ran.push((client, began, unix_ns()));
    }
    record.signal(libc::SIGINT);
    let record = record.end();
    assert!(record.status.success(), "{}", record.err);
    // A busy machine may lose some, which is counted.
    let lost = place.ask(&name, "select sum(lost) from sources where source = 'wire'");
    // The only node is a replica of every partition.
    assert_eq!(place.ask(&name, "select count(*) from wire where not to_replica"), 0);
    let drivers = place.well(&format!("clients {name} --json"));
    for (client, began, ended) in ran {
        assert!(drivers.contains(client.named), "{drivers}");
        let meanwhile = format!("outcome = 'ok' and start_ns >= {began} and end_ns <= {ended}");
        requests_are_recorded(place, &name, client.table, &meanwhile, lost);
    }
}

fn requests_are_recorded(place: &Place, name: &str, table: &str, meanwhile: &str, lost: i64) {
    let of_table = format!("keyspace = 'foreign_shop' and table_name = '{table}' and client = '127.0.0.1'");
    for statement in [
        format!("INSERT INTO foreign_shop.{table} (id, note) VALUES (?, ?)"),
        format!("SELECT note FROM foreign_shop.{table} WHERE id = ?"),
    ] {
        let count = format!("select count(*) from all_requests where statement = '{statement}'");
        let seen = place.ask(name, &format!("{count} and {of_table} and {meanwhile}"));
        assert!(seen <= 400 && seen + lost >= 400, "{name}: {seen} of 400 {statement}, {lost} lost");
    }
    // Each INSERT binds an id of its own.
    let inserts = format!("from wire where statement like 'INSERT INTO foreign_shop.{table} %' and opcode = 'EXECUTE'");
    let of_one = place.ask(name, &format!("select count(*) {inserts} and token = {TOKEN_OF_107}"));
    assert!(of_one <= 1 && of_one + lost >= 1, "{name}: {of_one} of one partition of {table}, {lost} lost");
    let partitions = place.ask(name, &format!("select count(distinct token) {inserts}"));
    assert!(partitions <= 400 && partitions + lost >= 400, "{name}: {partitions} partitions of {table}, {lost} lost");
    let shown = place.json(&format!("partitions {name} --table foreign_shop.{table} --json"));
    assert!(shown["rows"][0]["token"].is_i64(), "{shown}");
}

/// The result of `SELECT token(id)` for `id` 107, an int.
const TOKEN_OF_107: i64 = 862_316_289_128_835_791;

fn unix_ns() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos()
}

#[test]
fn every_request_of_other_drivers_is_recorded() {
    let place = Place::new();
    let address = "127.0.30.9";
    place.well(&format!("up --name foreign --address {address} --heap 768m"));
    let clients = [(&PYTHON, vec!["5"]), (&GOCQL, vec!["5"]), (&JAVA, vec!["4"])];
    every_request_is_recorded(&place, address, "wire", &clients);
    every_request_is_recorded(&place, address, "jvm", &[(&PYTHON, vec!["4"])]);
}
