//! Access to a real Cassandra: versions of the protocol, compression, TLS, and a password.
//!
//! One node that requires a password serves all tests, with and without TLS.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use helenus_cassandra::cql::{Channel, Connection, Credentials};
use helenus_cassandra::{Cluster, ClusterOptions, Lifetime, Places};
use helenus_load::{
    Access, Cancel, Compression, DriverKind, Error, Login, Phase, Plan, Protocol, Summary, Tls, TlsFiles, Until,
    VerifyTls, Workload, run,
};
use helenus_recording::{Manifest, Recorder};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const NODE: Ipv4Addr = Ipv4Addr::new(127, 0, 22, 1);

fn keytool(folder: &Path, arguments: &str) {
    let output = Command::new("keytool").current_dir(folder).args(arguments.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "keytool {arguments}\n{}", String::from_utf8_lossy(&output.stdout));
}

/// Makes a keystore for a node and returns the certificate that signs for it.
fn certificate(folder: &Path, name: &str, address: &str) -> PathBuf {
    let store = format!("-alias {name} -keystore {name}.p12 -storetype PKCS12 -storepass secret1");
    keytool(folder, &format!("-genkeypair {store} -keyalg EC -dname CN={name} -ext san=ip:{address}"));
    keytool(folder, &format!("-exportcert {store} -rfc -file {name}.pem"));
    folder.join(format!("{name}.pem"))
}

/// Certificate and key of a client, and a keystore with the certificate for a node that should accept it.
fn client_certificate(folder: &Path) -> (PathBuf, PathBuf) {
    let (certificate, key) = (folder.join("client.pem"), folder.join("client.key"));
    let mut openssl = Command::new("openssl");
    openssl.args([
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-subj",
        "/CN=client",
    ]);
    let output = openssl.arg("-out").arg(&certificate).arg("-keyout").arg(&key).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let store = "-alias client -keystore clients.p12 -storetype PKCS12 -storepass secret1";
    keytool(folder, &format!("-importcert -noprompt {store} -file client.pem"));
    (certificate, key)
}

/// Options of a client with its own certificate.
fn encrypted(authority: &Path, own: &(PathBuf, PathBuf), verify: VerifyTls) -> Option<Tls> {
    let files = TlsFiles { authorities: Some(authority.to_path_buf()), own: Some(own.clone()) };
    Some(Tls::read(&files, verify).unwrap())
}

fn login(password: &str) -> Option<Login> {
    Some(Login { user: "cassandra".to_string(), password: password.to_string() })
}

fn plan(node: &str, access: Access) -> Plan {
    let mut workload = Workload::open("keyvalue/mixed").unwrap();
    workload.set_population(500);
    let phases = vec![Phase::rate(500.0, Until::Elapsed(Duration::from_secs(2)))];
    Plan { access, ..Plan::new(workload, phases, vec![node.to_string()]) }
}

fn drive(plan: &Plan) -> Result<Summary, Error> {
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::create(&folder.path().join("recording"), Manifest::new("test", "test")).unwrap();
    let summary = run(plan, &recorder, &Cancel::new(), &mut |_| {})?;
    recorder.close().unwrap();
    Ok(summary)
}

fn refusal(plan: &Plan) -> String {
    drive(plan).unwrap_err().to_string()
}

#[test]
fn every_way_to_a_node_carries_the_same_load() {
    let folder = tempfile::tempdir().unwrap();
    let trusted = certificate(folder.path(), "node", &NODE.to_string());
    let stranger = certificate(folder.path(), "stranger", "127.0.22.99");
    let own = client_certificate(folder.path());
    let elsewhere = certificate(folder.path(), "elsewhere", "127.0.22.98");
    let places = Places { cache: Places::of_user().unwrap().cache, state: folder.path().join("state") };
    let mut options = ClusterOptions::new(places, "access");
    options.heap = "512m".to_owned();
    options.first_address = Some(NODE);
    options.lifetime = Lifetime::Tied;
    options.jvm_options = vec![
        "-Dcassandra.superuser_setup_delay_ms=0".to_string(),
        // The optimizing compiler takes a third of what a node needs to start.
        "-XX:TieredStopAtLevel=1".to_string(),
    ];
    options.settings = vec![
        "authenticator=PasswordAuthenticator".to_string(),
        "client_encryption_options.enabled=true".to_string(),
        "client_encryption_options.optional=true".to_string(),
        format!("client_encryption_options.keystore={}", folder.path().join("node.p12").display()),
        "client_encryption_options.keystore_password=secret1".to_string(),
        "client_encryption_options.store_type=PKCS12".to_string(),
        "client_encryption_options.require_client_auth=true".to_string(),
        format!("client_encryption_options.truststore={}", folder.path().join("clients.p12").display()),
        "client_encryption_options.truststore_password=secret1".to_string(),
    ];
    let cluster = Cluster::start(&options, &mut |_| {}, &helenus_cassandra::Cancel::new()).unwrap();
    let node = cluster.nodes()[0].address.to_string();

    // Waits until the first user exists.
    let open = Access { login: login("cassandra"), ..Access::default() };
    for _ in 0..60 {
        match drive(&plan(&node, open.clone())) {
            Err(Error::Session { .. }) => std::thread::sleep(Duration::from_secs(1)),
            _ => break,
        }
    }

    let mut rows_read = Vec::new();
    let ways = [
        (DriverKind::Thin, Protocol::V4, None),
        (DriverKind::Thin, Protocol::V4, Some(Compression::Lz4)),
        (DriverKind::Thin, Protocol::V4, Some(Compression::Snappy)),
        (DriverKind::Thin, Protocol::V5, None),
        (DriverKind::Thin, Protocol::V5, Some(Compression::Lz4)),
        (DriverKind::Scylla, Protocol::V4, Some(Compression::Lz4)),
    ];
    for (driver, protocol, compression) in ways {
        for tls in [None, encrypted(&trusted, &own, VerifyTls::Address)] {
            let way = format!("{driver:?} {protocol:?} {compression:?} {tls:?}");
            let access = Access { protocol, compression, tls, ..open.clone() };
            let plan = Plan { driver, threads: 2, populate: true, ..plan(&node, access) };
            let summary = drive(&plan).unwrap_or_else(|error| panic!("{way}: {error}"));
            assert_eq!((summary.errors.len(), summary.requests), (0, 1_500), "{way}: {:?}", summary.errors);
            rows_read.push(summary.phases.iter().map(|phase| phase.empty).sum::<u64>());
        }
    }
    // The same seed reads the same rows, with and without TLS.
    assert_eq!(rows_read, vec![0; rows_read.len()]);

    large_frames_go_in_several_segments(&node, &open);
    questions_go_over_tls_too(cluster.nodes()[0].address, &encrypted(&trusted, &own, VerifyTls::Address).unwrap());

    let with = |tls, login| plan(&node, Access { tls, login, ..Access::default() });
    let error = refusal(&with(encrypted(&stranger, &own, VerifyTls::Address), login("cassandra")));
    assert!(error.contains("certificate"), "{error}");
    let error = refusal(&with(encrypted(&elsewhere, &own, VerifyTls::Chain), login("cassandra")));
    assert!(error.contains("certificate"), "{error}");
    // With TLS 1.3, a node that requires a certificate refuses only after the handshake.
    let nobody = Tls::read(&TlsFiles { authorities: Some(trusted.clone()), own: None }, VerifyTls::Address).unwrap();
    let error = refusal(&with(Some(nobody), login("cassandra")));
    assert!(error.contains("--tls-cert"), "{error}");
    let lenient = Tls::read(&TlsFiles { authorities: None, own: Some(own) }, VerifyTls::Nothing).unwrap();
    assert_eq!(drive(&with(Some(lenient), login("cassandra"))).unwrap().errors.len(), 0);
    let error = refusal(&with(None, login("wrong")));
    assert!(error.contains("password") || error.contains("credentials"), "{error}");
    let error = refusal(&with(None, None));
    assert!(error.contains("--user"), "{error}");
    let abroad = Access { datacenter: Some("elsewhere".to_string()), ..open };
    let error = refusal(&plan(&node, abroad));
    assert!(error.contains("datacenter1"), "{error}");
}

/// The small client of `helenus tables --no-agent`, which sends one query at a time.
fn questions_go_over_tls_too(node: SocketAddr, tls: &Tls) {
    let credentials = Credentials { user: "cassandra".to_string(), password: "cassandra".to_string() };
    let mut connection =
        Connection::open_over(node, Duration::from_secs(10), Some(&credentials), &|socket| -> std::io::Result<
            Box<dyn Channel>,
        > {
            Ok(Box::new(tls.over(socket, node.ip())?))
        })
        .unwrap();
    assert!(connection.identify().unwrap().version.starts_with("5."));
    // An answer larger than a TLS record.
    let settings = connection.query("SELECT name, value FROM system_views.settings").unwrap();
    assert!(settings.rows.len() > 100, "{}", settings.rows.len());
}

/// Values of 300 kB, which do not fit into a segment.
fn large_frames_go_in_several_segments(node: &str, open: &Access) {
    let toml = r#"
        description = "Rows of 300 kB"
        schema = [
          "CREATE KEYSPACE IF NOT EXISTS large WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
          "CREATE TABLE IF NOT EXISTS large.rows (key bigint PRIMARY KEY, value blob)",
        ]
        [parameters.key]
        kind = "key"
        population = 20
        distribution = "uniform"
        [parameters.value]
        kind = "value"
        size_bytes = 300_000
        content = "random"
        [operations.write]
        cql = "INSERT INTO large.rows (key, value) VALUES (:key, :value)"
        [operations.read]
        cql = "SELECT value FROM large.rows WHERE key = :key"
        [mixes.mixed]
        write = 1
        read = 1
    "#;
    let workload = Workload::from_toml("large", "large.toml", toml).unwrap();
    for compression in [None, Some(Compression::Lz4)] {
        let access = Access { protocol: Protocol::V5, compression, ..open.clone() };
        let phases = vec![Phase::in_flight(4, Until::Count(200))];
        let plan = Plan { access, ..Plan::new(workload.clone(), phases, vec![node.to_string()]) };
        let summary = drive(&plan).unwrap();
        assert_eq!((summary.errors.len(), summary.requests), (0, 200), "{compression:?}: {:?}", summary.errors);
    }
}
