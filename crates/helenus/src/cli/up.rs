use super::nodes;
use crate::assets::AGENT_JAR;
use crate::{interrupt, terminal};
use anyhow::Result;
use clap::Args;
use helenus_cassandra::{Cluster, ClusterOptions, Lifetime, Places, Version};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::ExitCode;

/// Start a local cluster of real Cassandra nodes on loopback addresses
///
/// The release comes from Maven Central, once. Its data is temporary unless --data names a folder; its log stays. JMX
/// is off.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus up
  helenus up --nodes 3 --heap 512m
  helenus up --ready
  helenus up --name wide --version 5.0.5 --set concurrent_reads=64 --jvm-opt=-XX:+UseZGC")]
pub struct Arguments {
    /// Name of the cluster, for `helenus ps` and `helenus down`
    #[arg(long, default_value = "local")]
    name: String,
    /// Number of nodes; they take neighbouring loopback addresses
    #[arg(long, default_value_t = 1)]
    nodes: usize,
    /// Cassandra's line (4.0, 4.1, 5.0) or exact release
    #[arg(long, default_value = "5.0")]
    version: Version,
    /// Heap of each node
    #[arg(long, default_value = "1g")]
    heap: String,
    /// A further JVM option (may be given again)
    #[arg(long = "jvm-opt", value_name = "OPTION", allow_hyphen_values = true)]
    jvm_options: Vec<String>,
    /// A setting of cassandra.yaml; dots reach into maps (may be given again)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Have the JVMs ready for valves, probes and executors (see `helenus agent`)
    #[arg(long)]
    ready: bool,
    /// Folder for the data, which is kept; a temporary one otherwise
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Address of the first node
    #[arg(long, value_name = "127.x.x.x")]
    address: Option<Ipv4Addr>,
    /// CQL port
    #[arg(long, default_value_t = 9042)]
    port: u16,
    /// Port between the nodes
    #[arg(long, default_value_t = 7000)]
    storage_port: u16,
    /// Java installation; the best that fits otherwise
    #[arg(long, value_name = "FOLDER")]
    java_home: Option<PathBuf>,
    /// Print the started cluster as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let cancel = interrupt::cancel_on_signals()?;
    let options = ClusterOptions {
        version: arguments.version,
        nodes: arguments.nodes,
        heap: arguments.heap,
        jvm_options: arguments.jvm_options,
        settings: arguments.settings,
        ready: arguments.ready.then_some(AGENT_JAR),
        first_address: arguments.address,
        native_port: arguments.port,
        storage_port: arguments.storage_port,
        data: arguments.data,
        java_home: arguments.java_home,
        lifetime: Lifetime::Detached,
        ..ClusterOptions::new(Places::of_user()?, &arguments.name)
    };
    let mut steps = terminal::Steps::new();
    let cluster = Cluster::start(&options, &mut |progress| nodes::show(&mut steps, &progress), &cancel)?;
    drop(steps);
    if arguments.json {
        terminal::json(cluster.nodes())?;
    } else {
        for node in cluster.nodes() {
            terminal::data(format_args!(
                "{}  pid {}  Cassandra {}  Java {}  log {}",
                node.address,
                node.pid,
                node.version,
                node.java,
                node.log.display()
            ));
        }
        terminal::talk(terminal::dim(format_args!("stop it with: helenus down {}", arguments.name)));
    }
    Ok(ExitCode::SUCCESS)
}
