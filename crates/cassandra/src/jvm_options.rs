//! The command line of a node's JVM: the stock conf/jvm*-server.options and cassandra-env.sh of
//! the release, and what a local node has different, each with its reason.

use std::path::Path;

use crate::Error;

/// The facts that determine the options.
#[derive(Debug)]
pub(crate) struct Jvm<'a> {
    /// The Java feature release.
    pub(crate) feature: u32,
    pub(crate) heap: &'a str,
    pub(crate) jamm: Option<&'a Path>,
    /// The agent's jar, which makes the JVM ready for weaving.
    pub(crate) ready: Option<&'a Path>,
    pub(crate) user: &'a [String],
    /// Folders and files of the node.
    pub(crate) conf: &'a Path,
    pub(crate) data: &'a Path,
    pub(crate) logs: &'a Path,
    pub(crate) scratch: &'a Path,
    /// Whether this node is part of a ring of several nodes.
    pub(crate) ring: bool,
}

/// conf/jvm-server.options and cassandra-env.sh, the same for all lines.
const STOCK: &[&str] = &[
    "-ea",
    "-da:net.openhft...",
    "-XX:+UseThreadPriorities",
    "-Xss256k",
    "-XX:+AlwaysPreTouch",
    "-XX:+UseTLAB",
    "-XX:+ResizeTLAB",
    "-XX:+UseNUMA",
    "-XX:+PerfDisableSharedMem",
    "-Djava.net.preferIPv4Stack=true",
];

/// The G1 part of conf/jvm11-server.options and jvm17-server.options of 5.0. 4.0 and 4.1 have CMS
/// there; a local node takes G1 with every line, because what people compare then differs by
/// Cassandra and not by a collector that Java has since removed.
const G1: &[&str] = &[
    "-XX:+UseG1GC",
    "-XX:+ParallelRefProcEnabled",
    "-XX:MaxTenuringThreshold=1",
    "-XX:G1HeapRegionSize=16m",
    "-XX:G1RSetUpdatingPauseTimePercent=5",
    "-XX:MaxGCPauseMillis=300",
    "-XX:InitiatingHeapOccupancyPercent=70",
];

/// The module part of conf/jvm11-server.options.
const EXPORTS_11: &[&str] = &[
    "java.base/jdk.internal.misc",
    "java.base/jdk.internal.ref",
    "java.base/jdk.internal.util",
    "java.base/sun.nio.ch",
    "java.management.rmi/com.sun.jmx.remote.internal.rmi",
    "java.rmi/sun.rmi.registry",
    "java.rmi/sun.rmi.server",
    "java.sql/java.sql",
];
const OPENS_11: &[&str] = &[
    "java.base/java.lang.module",
    "java.base/jdk.internal.loader",
    "java.base/jdk.internal.ref",
    "java.base/jdk.internal.reflect",
    "java.base/jdk.internal.math",
    "java.base/jdk.internal.module",
    "java.base/jdk.internal.util.jar",
    "jdk.management/com.sun.management.internal",
];

/// The module part of conf/jvm17-server.options.
const EXPORTS_17: &[&str] = &[
    "java.base/jdk.internal.misc",
    "java.management.rmi/com.sun.jmx.remote.internal.rmi",
    "java.rmi/sun.rmi.registry",
    "java.rmi/sun.rmi.server",
    "java.sql/java.sql",
    "java.base/java.lang.ref",
    "jdk.unsupported/sun.misc",
    "jdk.compiler/com.sun.tools.javac.file",
    "jdk.attach/sun.tools.attach",
];
const OPENS_17: &[&str] = &[
    "java.base/java.lang.module",
    "java.base/jdk.internal.loader",
    "java.base/jdk.internal.ref",
    "java.base/jdk.internal.reflect",
    "java.base/jdk.internal.math",
    "java.base/jdk.internal.module",
    "java.base/jdk.internal.util.jar",
    "jdk.management/com.sun.management.internal",
    "java.base/sun.nio.ch",
    "java.base/java.io",
    "java.base/java.lang.reflect",
    "jdk.compiler/com.sun.tools.javac",
    "java.base/java.lang",
    "java.base/java.util",
];

/// Stock options from Java 11 on: without these, Netty falls back to slower buffers.
const NETTY: &[&str] = &[
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.useCacheForAllThreads=true",
    "-Dio.netty.allocator.maxOrder=11",
];

/// Environment variables with options for other programs, which would silently change this one.
pub(crate) const FOREIGN: [&str; 3] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];

/// Cassandra's access to inner packages of the JDK, from Java 9 on.
pub(crate) fn modules(feature: u32) -> Vec<String> {
    let (exports, opens) = match feature {
        17.. => (EXPORTS_17, OPENS_17),
        11.. => (EXPORTS_11, OPENS_11),
        _ => return Vec::new(),
    };
    let open = |word: &str, package: &&str| [word.to_owned(), format!("{package}=ALL-UNNAMED")];
    let exports = exports.iter().flat_map(|package| open("--add-exports", package));
    exports.chain(opens.iter().flat_map(|package| open("--add-opens", package))).collect()
}

/// All options, the main class not included. The user's come last: the last one wins in HotSpot.
///
/// Different from stock, besides folders and addresses:
/// - no JMX port (`cassandra.jmx.local.port`): a node that is measured offers no way in; the agent
///   reads the MBeans from inside;
/// - no heap dump when memory runs out, and exit instead of `kill -9` by a shell: a local node may
///   well be given too small a heap on purpose; the dump would fill the disk and hide the moment;
/// - temporary files in the node's own folder, not in /tmp, so that a killed node leaves nothing;
/// - no jemalloc (`LD_PRELOAD` where the machine has it): results must not hang on what else is
///   installed;
/// - no `java.library.path` for Sigar: its native library is in the tarball only; Cassandra then
///   skips a check of the machine's limits;
/// - start-up delays that wait for other nodes' gossip are shortened, see below.
pub(crate) fn options(jvm: &Jvm<'_>) -> Vec<String> {
    let mut options: Vec<String> = Vec::new();
    let mut add = |list: &[&str]| options.extend(list.iter().map(|option| (*option).to_owned()));
    add(STOCK);
    // Stock for 8 and 11; since 15 it is off by default and the option only warns.
    if jvm.feature < 15 {
        add(&["-XX:-UseBiasedLocking"]);
    }
    if !jvm.user.iter().any(|option| chooses_collector(option)) {
        add(G1);
    }
    if jvm.feature >= 11 {
        options.push("-Djdk.attach.allowAttachSelf=true".to_owned());
        options.extend(modules(jvm.feature));
        options.extend(NETTY.iter().map(|option| (*option).to_owned()));
    }
    let (conf, data, logs, scratch) =
        (jvm.conf.display(), jvm.data.display(), jvm.logs.display(), jvm.scratch.display());
    options.push(format!("-Xms{}", jvm.heap));
    options.push(format!("-Xmx{}", jvm.heap));
    options.push("-XX:+ExitOnOutOfMemoryError".to_owned());
    options.push(format!("-XX:ErrorFile={logs}/hs_err_%p.log"));
    // Stock has the file only; without this the JVM lists it on stdout, among what matters there.
    options.push("-XX:CompileCommand=quiet".to_owned());
    options.push(format!("-XX:CompileCommandFile={conf}/hotspot_compiler"));
    options.push(gc_log(jvm));
    options.extend(jvm.jamm.map(|jamm| format!("-javaagent:{}", jamm.display())));
    options.push(format!("-Djava.io.tmpdir={scratch}"));
    options.push(format!("-Djna.tmpdir={scratch}"));
    options.push(format!("-Dlogback.configurationFile={conf}/logback.xml"));
    options.push(format!("-Dcassandra.logdir={logs}"));
    options.push(format!("-Dcassandra.storagedir={data}"));
    options.push(format!("-Dcassandra.config=file://{}/cassandra.yaml", url_path(jvm.conf)));
    // Keeps stdout and stderr open, so that the JVM's own messages reach the log.
    options.push("-Dcassandra-foreground=yes".to_owned());
    // Stock waits 8 s for gossip to calm down, once on a single node and four times on a joining
    // one. Here nodes start one after the other, each hears of all others in its first exchange
    // with the seed, and `Cluster::start` returns only when all know all.
    options.push("-Dcassandra.skip_wait_for_gossip_to_settle=0".to_owned());
    // How long a joining node waits for gossip before it chooses its tokens (stock: 30 s). All nodes share this
    // machine, where gossip takes a second or two; a single node waits for nobody.
    let ring_delay_ms = if jvm.ring { 3000 } else { 0 };
    options.push(format!("-Dcassandra.ring_delay_ms={ring_delay_ms}"));
    options.extend(jvm.ready.map(|jar| format!("-javaagent:{}=ready", jar.display())));
    options.extend(jvm.user.iter().cloned());
    options
}

/// A path as part of a URL (RFC 3986): all but unreserved characters and '/' escaped.
fn url_path(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"/-._~".contains(b);
    path.as_os_str()
        .as_bytes()
        .iter()
        .map(|b| if plain(b) { char::from(*b).to_string() } else { format!("%{b:02X}") })
        .collect()
}

/// The stock logging configuration, except for the path of the file.
fn gc_log(jvm: &Jvm<'_>) -> String {
    let logs = jvm.logs.display();
    match jvm.feature {
        ..11 => format!("-Xloggc:{logs}/gc.log"),
        _ => format!(
            "-Xlog:gc=info,heap*=trace,age*=debug,safepoint=info,promotion*=trace:file={logs}/gc.log:time,uptime,pid,tid,level:filecount=10,filesize=10485760"
        ),
    }
}

/// Two collectors conflict: when the user names one, ours is left out with all that belongs to it.
fn chooses_collector(option: &str) -> bool {
    let name = option.strip_prefix("-XX:+Use").or_else(|| option.strip_prefix("-XX:-Use"));
    name.is_some_and(|name| name.ends_with("GC"))
}

/// "512m", "2g", "1048576k", or bytes.
pub(crate) fn check_heap(heap: &str) -> Result<(), Error> {
    let digits = heap.strip_suffix(['k', 'K', 'm', 'M', 'g', 'G']).unwrap_or(heap);
    let good = digits.parse::<u64>().is_ok_and(|size| size > 0) && digits.bytes().all(|b| b.is_ascii_digit());
    if good { Ok(()) } else { Err(Error::BadHeap { given: heap.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options_for(feature: u32, user: &[&str], ring: bool) -> Vec<String> {
        let user: Vec<String> = user.iter().map(|&option| option.to_owned()).collect();
        let folder = Path::new("/n");
        options(&Jvm {
            feature,
            heap: "1g",
            jamm: Some(Path::new("/jamm.jar")),
            ready: None,
            user: &user,
            conf: folder,
            data: folder,
            logs: folder,
            scratch: folder,
            ring,
        })
    }

    fn has(options: &[String], wanted: &str) -> bool {
        options.iter().any(|option| option.starts_with(wanted))
    }

    #[test]
    fn each_java_gets_what_it_knows() {
        let (eight, eleven, seventeen) =
            (options_for(8, &[], false), options_for(11, &[], false), options_for(17, &[], false));
        assert!(!has(&eight, "--add-opens") && has(&eight, "-Xloggc:") && has(&eight, "-XX:-UseBiasedLocking"));
        assert!(has(&eleven, "java.base/jdk.internal.util=") && has(&eleven, "-XX:-UseBiasedLocking"));
        assert!(has(&seventeen, "jdk.attach/sun.tools.attach=") && !has(&seventeen, "-XX:-UseBiasedLocking"));
    }

    #[test]
    fn another_collector_drives_out_g1() {
        let options = options_for(17, &["-XX:+UseZGC"], false);
        assert!(
            !has(&options, "-XX:+UseG1GC")
                && !has(&options, "-XX:G1")
                && options.ends_with(&["-XX:+UseZGC".to_owned()])
        );
        assert!(has(&options_for(17, &["-XX:+UseNUMA"], false), "-XX:+UseG1GC"));
    }

    #[test]
    fn nobody_waits_for_others_that_are_not_there() {
        assert!(has(&options_for(17, &[], true), "-Dcassandra.ring_delay_ms=3000"));
        assert!(has(&options_for(17, &[], false), "-Dcassandra.ring_delay_ms=0"));
    }

    #[test]
    fn odd_paths_survive_in_the_url() {
        assert_eq!(url_path(Path::new("/a b/ü#1")), "/a%20b/%C3%BC%231");
    }

    #[test]
    fn heap_sizes_are_checked() {
        for good in ["512m", "2G", "1048576k", "536870912"] {
            check_heap(good).unwrap();
        }
        for bad in ["", "g", "1.5g", "-1g", "+1g", "0m", "1t", "1 g"] {
            assert!(check_heap(bad).unwrap_err().to_string().contains("512m"), "{bad}");
        }
    }
}
