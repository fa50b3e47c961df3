//! Foreign clients, which `make test` installs. Each inserts and selects 400 rows of a table of its own in two threads.

use std::path::PathBuf;
use std::process::Command;

#[derive(Debug)]
pub struct Client {
    pub driver: &'static str,
    /// The client's table, in the keyspace `foreign_shop`.
    pub table: &'static str,
    /// The driver's name in STARTUP.
    pub named: &'static str,
    make: fn() -> Result<Command, String>,
}

/// Arguments: an address and a version of the protocol.
pub const PYTHON: Client = Client { driver: "python", table: "python", named: "Python", make: python };
/// Arguments: an address and a version of the protocol, with LZ4; with a file of certificates, TLS.
pub const GOCQL: Client = Client { driver: "gocql", table: "gocql", named: "gocql", make: gocql };
/// Arguments as for gocql; for TLS, a PKCS12 store of certificates and its password.
pub const JAVA: Client = Client { driver: "java", table: "java", named: "Java", make: java };

impl Client {
    /// # Errors
    /// The program that this client needs, if the machine does not have it.
    pub fn command(&self) -> Result<Command, String> {
        (self.make)()
    }
}

const IN_PYTHON: &str = r#"
import sys, threading
from cassandra.cluster import Cluster

cluster = Cluster([sys.argv[1]], protocol_version=int(sys.argv[2]))
session = cluster.connect()
session.execute("CREATE KEYSPACE IF NOT EXISTS foreign_shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
session.execute("CREATE TABLE IF NOT EXISTS foreign_shop.python (id int PRIMARY KEY, note text)")
insert = session.prepare("INSERT INTO foreign_shop.python (id, note) VALUES (?, ?)")
def work(first):
    for id in range(first, first + 200):
        session.execute(insert, (id, "n" * id))
        assert session.execute(f"SELECT note FROM foreign_shop.python WHERE id = {id}").one().note == "n" * id
threads = [threading.Thread(target=work, args=(first,)) for first in (0, 1000)]
for thread in threads: thread.start()
for thread in threads: thread.join()
cluster.shutdown()
"#;

fn python() -> Result<Command, String> {
    let python = std::env::var("HELENUS_TEST_PYTHON").unwrap_or("python3".to_string());
    match Command::new(&python).args(["-c", "import cassandra.cluster, lz4"]).output() {
        Ok(output) if output.status.success() => {
            let mut command = Command::new(python);
            command.args(["-c", IN_PYTHON]);
            Ok(command)
        }
        _ => Err("it needs the Python driver of Cassandra; `make test` installs it".into()),
    }
}

fn gocql() -> Result<Command, String> {
    match std::env::var_os("HELENUS_TEST_GOCQL").map(PathBuf::from).filter(|client| client.is_file()) {
        Some(client) => Ok(Command::new(client)),
        None => Err("it needs gocql; `make test` builds a client with it where there is Go".into()),
    }
}

fn java() -> Result<Command, String> {
    let folder = std::env::var_os("HELENUS_TEST_JAVA_DRIVER").map(PathBuf::from);
    match folder.filter(|folder| folder.join("Client.class").is_file()) {
        Some(folder) => {
            let mut command = Command::new("java");
            // Small settings for a client that runs for seconds beside a node.
            command.args(["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]);
            command.arg("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");
            command.arg("-cp").arg(format!("{0}:{0}/*", folder.display())).arg("Client");
            Ok(command)
        }
        None => Err("it needs the Java driver of Cassandra; `make test` fetches it".into()),
    }
}
