//! The filter that the kernel applies to each packet. It accepts TCP packets with a payload, from and to one node's
//! port.
//!
//! Packets to the node are captured as incoming packets, and packets from the node as outgoing ones. So packets within
//! the machine, which pass twice, are captured once. If all of a node's packets stay on the machine, all are captured
//! as incoming packets, because a listener for outgoing packets makes the kernel copy the head of every packet. Packets
//! begin with their IP header.

use super::sample::{FACTOR, Sample};
use libc::sock_filter;
use std::net::{IpAddr, SocketAddr};

/// The filter's result that accepts the packet.
const TAKE: &str = "take";
const LEAVE: &str = "leave";
/// Jump to the next instruction.
const NEXT: &str = "";

const OUTGOING: u32 = libc::PACKET_OUTGOING as u32;
const TCP: u32 = libc::IPPROTO_TCP as u32;

/// Offset of the packet type in the kernel's metadata of a packet.
const PACKET_TYPE: u32 = (libc::SKF_AD_OFF + libc::SKF_AD_PKTTYPE).cast_unsigned();

const LOAD_WORD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const LOAD_HALF: u16 = (libc::BPF_LD | libc::BPF_H | libc::BPF_ABS) as u16;
const LOAD_BYTE: u16 = (libc::BPF_LD | libc::BPF_B | libc::BPF_ABS) as u16;
const LOAD_HALF_AT_X: u16 = (libc::BPF_LD | libc::BPF_H | libc::BPF_IND) as u16;
const LOAD_BYTE_AT_X: u16 = (libc::BPF_LD | libc::BPF_B | libc::BPF_IND) as u16;
const LOAD_LENGTH: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_LEN) as u16;
const LOAD_SAVED: u16 = (libc::BPF_LD | libc::BPF_MEM) as u16;
const SAVE: u16 = libc::BPF_ST as u16;
const X_IS: u16 = (libc::BPF_LDX | libc::BPF_W | libc::BPF_IMM) as u16;
/// Sets X to four times the low half of a byte, which is the length of an IPv4 header.
const X_HEADER: u16 = (libc::BPF_LDX | libc::BPF_B | libc::BPF_MSH) as u16;
const X_IS_A: u16 = (libc::BPF_MISC | libc::BPF_TAX) as u16;
const AND: u16 = (libc::BPF_ALU | libc::BPF_AND | libc::BPF_K) as u16;
const SHIFT_RIGHT: u16 = (libc::BPF_ALU | libc::BPF_RSH | libc::BPF_K) as u16;
const XOR: u16 = (libc::BPF_ALU | libc::BPF_XOR | libc::BPF_K) as u16;
const TIMES: u16 = (libc::BPF_ALU | libc::BPF_MUL | libc::BPF_K) as u16;
const LESS_X: u16 = (libc::BPF_ALU | libc::BPF_SUB | libc::BPF_X) as u16;
const IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const IF_ANY_BIT: u16 = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;
const JUMP: u16 = (libc::BPF_JMP | libc::BPF_JA) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

/// TCP flags of the begin or end of a connection: FIN, SYN, RST.
const BEGINS_OR_ENDS: u32 = 0x07;

/// An instruction with the labels of its jump targets.
struct Step {
    code: u16,
    operand: u32,
    then: &'static str,
    otherwise: &'static str,
}

/// Instructions, and the labels of some of them.
#[derive(Default)]
struct Program {
    steps: Vec<Step>,
    names: Vec<(&'static str, usize)>,
}

impl Program {
    fn name(&mut self, name: &'static str) {
        self.names.push((name, self.steps.len()));
    }

    fn step(&mut self, code: u16, operand: u32) {
        self.branch(code, operand, NEXT, NEXT);
    }

    fn branch(&mut self, code: u16, operand: u32, then: &'static str, otherwise: &'static str) {
        self.steps.push(Step { code, operand, then, otherwise });
    }

    fn assemble(&self) -> Vec<sock_filter> {
        let distance = |from: usize, name: &str| {
            let named = self.names.iter().find(|(known, _)| *known == name).map(|(_, at)| *at);
            named.map_or(0, |at| at - from - 1)
        };
        let short = |distance: usize| u8::try_from(distance).unwrap_or(u8::MAX);
        let assembled = self.steps.iter().enumerate().map(|(at, step)| match step.code {
            JUMP => sock_filter { code: JUMP, jt: 0, jf: 0, k: distance(at, step.then) as u32 },
            code => sock_filter {
                code,
                jt: short(distance(at, step.then)),
                jf: short(distance(at, step.otherwise)),
                k: step.operand,
            },
        });
        assembled.collect()
    }
}

/// Whether no packet of a node leaves the machine.
pub(super) fn stays(node: SocketAddr) -> bool {
    node.ip().to_canonical().is_loopback()
}

/// The filter for a node that listens on this address, and for the followed connections. A wildcard address stands for
/// every address.
pub(super) fn for_node(node: SocketAddr, sample: Sample) -> Vec<sock_filter> {
    let mut program = Program::default();
    program.step(LOAD_WORD, PACKET_TYPE);
    program.step(SAVE, 0);
    program.step(LOAD_BYTE, 0);
    program.step(AND, 0xF0);
    program.branch(IF_EQUAL, 0x40, NEXT, "no v4");

    program.step(LOAD_BYTE, 9);
    program.branch(IF_EQUAL, TCP, NEXT, LEAVE);
    program.step(LOAD_HALF, 6);
    // Only the first fragment of a packet has ports. Fragments are dropped; current TCP stacks do not fragment.
    program.branch(IF_ANY_BIT, 0x3FFF, LEAVE, NEXT);
    program.step(X_HEADER, 0);
    ends(&mut program, node, sample, "v4 from", (16, 12), false);

    program.name("no v4");
    program.branch(IF_EQUAL, 0x60, NEXT, LEAVE);
    program.step(LOAD_BYTE, 6);
    program.branch(IF_EQUAL, TCP, NEXT, LEAVE);
    program.step(X_IS, 40);
    ends(&mut program, node, sample, "v6 from", (24, 8), true);

    // X is the length of the IP header. Packets without a payload are dropped.
    program.name("tcp");
    program.step(LOAD_BYTE_AT_X, 13);
    program.branch(IF_ANY_BIT, BEGINS_OR_ENDS, TAKE, NEXT);
    program.step(LOAD_LENGTH, 0);
    program.step(LESS_X, 0);
    program.step(SAVE, 1);
    program.step(LOAD_BYTE_AT_X, 12);
    program.step(AND, 0xF0);
    program.step(SHIFT_RIGHT, 2);
    program.step(X_IS_A, 0);
    program.step(LOAD_SAVED, 1);
    program.step(LESS_X, 0);
    program.branch(IF_EQUAL, 0, LEAVE, TAKE);
    program.name(TAKE);
    program.step(RETURN, u32::MAX);
    program.name(LEAVE);
    program.step(RETURN, 0);
    program.assemble()
}

/// Accepts packets to the node if they are incoming, and packets from the node if they are outgoing, or if they are
/// incoming and all stay on the machine. X is the length of the IP header; its addresses are at the given offsets.
fn ends(
    program: &mut Program,
    node: SocketAddr,
    sample: Sample,
    from: &'static str,
    (to_at, from_at): (u32, u32),
    is_v6: bool,
) {
    let port = u32::from(node.port());
    program.step(LOAD_HALF_AT_X, 0);
    program.branch(IF_EQUAL, port, from, NEXT);
    program.step(LOAD_HALF_AT_X, 2);
    program.branch(IF_EQUAL, port, NEXT, LEAVE);
    program.step(LOAD_SAVED, 0);
    program.branch(IF_EQUAL, OUTGOING, LEAVE, NEXT);
    address(program, node.ip(), to_at, is_v6);
    chosen(program, sample, 0);
    program.branch(JUMP, 0, "tcp", NEXT);
    program.name(from);
    program.step(LOAD_SAVED, 0);
    let (outgoing, incoming) = if stays(node) { (LEAVE, NEXT) } else { (NEXT, LEAVE) };
    program.branch(IF_EQUAL, OUTGOING, outgoing, incoming);
    address(program, node.ip(), from_at, is_v6);
    chosen(program, sample, 2);
    program.branch(JUMP, 0, "tcp", NEXT);
}

/// Drops packets of connections that are not followed. The client's port is at this offset from X.
fn chosen(program: &mut Program, sample: Sample, offset: u32) {
    if sample.level > 0 {
        program.step(LOAD_HALF_AT_X, offset);
        program.step(XOR, sample.salt.into());
        program.step(TIMES, FACTOR);
        program.step(SHIFT_RIGHT, 32 - sample.level);
        program.branch(IF_EQUAL, 0, NEXT, LEAVE);
    }
}

/// Drops packets whose address at `offset` is another one.
fn address(program: &mut Program, node: IpAddr, offset: u32, is_v6: bool) {
    let bytes = match (node, is_v6) {
        (ip, _) if ip.is_unspecified() => return,
        (IpAddr::V4(ip), false) => ip.octets().to_vec(),
        (IpAddr::V6(ip), true) => ip.octets().to_vec(),
        (IpAddr::V6(ip), false) => match ip.to_ipv4_mapped() {
            Some(ip) => ip.octets().to_vec(),
            None => return program.branch(JUMP, 0, LEAVE, NEXT),
        },
        (IpAddr::V4(_), true) => return program.branch(JUMP, 0, LEAVE, NEXT),
    };
    for (word, offset) in bytes.chunks_exact(4).zip((offset..).step_by(4)) {
        let word = word.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
        program.step(LOAD_WORD, offset);
        program.branch(IF_EQUAL, word, NEXT, LEAVE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the filter as the kernel would, for the instructions that these filters use.
    fn run(filter: &[sock_filter], packet: &[u8], packet_type: u8) -> bool {
        let (mut a, mut x, mut memory, mut at) = (0u32, 0u32, [0u32; 16], 0usize);
        let word = |offset: u32, size: usize| -> Option<u32> {
            if offset == PACKET_TYPE {
                return Some(packet_type.into());
            }
            let bytes = packet.get(offset as usize..offset as usize + size)?;
            Some(bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte)))
        };
        loop {
            let step = &filter[at];
            at += 1;
            let loaded = match step.code {
                LOAD_WORD => Some(word(step.k, 4)),
                LOAD_HALF => Some(word(step.k, 2)),
                LOAD_BYTE => Some(word(step.k, 1)),
                LOAD_HALF_AT_X => Some(word(x + step.k, 2)),
                LOAD_BYTE_AT_X => Some(word(x + step.k, 1)),
                LOAD_LENGTH => Some(Some(packet.len() as u32)),
                LOAD_SAVED => Some(Some(memory[step.k as usize])),
                _ => None,
            };
            match (loaded, step.code) {
                // A read beyond the packet's end drops the packet.
                (Some(None), _) => return false,
                (Some(Some(loaded)), _) => a = loaded,
                (None, SAVE) => memory[step.k as usize] = a,
                (None, X_IS) => x = step.k,
                (None, X_HEADER) => x = 4 * (word(step.k, 1).unwrap() & 0x0F),
                (None, X_IS_A) => x = a,
                (None, AND) => a &= step.k,
                (None, XOR) => a ^= step.k,
                (None, TIMES) => a = a.wrapping_mul(step.k),
                (None, SHIFT_RIGHT) => a >>= step.k,
                (None, LESS_X) => a = a.wrapping_sub(x),
                (None, IF_EQUAL) => at += usize::from(if a == step.k { step.jt } else { step.jf }),
                (None, IF_ANY_BIT) => at += usize::from(if a & step.k != 0 { step.jt } else { step.jf }),
                (None, JUMP) => at += step.k as usize,
                (None, RETURN) => return step.k > 0,
                (None, code) => panic!("no such instruction: {code}"),
            }
        }
    }

    fn packet(from: SocketAddr, to: SocketAddr, flags: u8, payload: &[u8]) -> Vec<u8> {
        let mut tcp = Vec::new();
        tcp.extend(from.port().to_be_bytes());
        tcp.extend(to.port().to_be_bytes());
        tcp.extend([0; 8]);
        tcp.extend([0x80, flags]);
        tcp.extend([0; 18]);
        tcp.extend(payload);
        let length = tcp.len() as u16;
        let mut ip = Vec::new();
        match (from.ip(), to.ip()) {
            (IpAddr::V4(from), IpAddr::V4(to)) => {
                ip.extend([0x45, 0]);
                ip.extend((20 + length).to_be_bytes());
                ip.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
                ip.extend(from.octets());
                ip.extend(to.octets());
            }
            (IpAddr::V6(from), IpAddr::V6(to)) => {
                ip.extend([0x60, 0, 0, 0]);
                ip.extend(length.to_be_bytes());
                ip.extend([6, 64]);
                ip.extend(from.octets());
                ip.extend(to.octets());
            }
            _ => unreachable!(),
        }
        ip.extend(tcp);
        ip
    }

    const IN: u8 = libc::PACKET_HOST;
    const OUT: u8 = libc::PACKET_OUTGOING;

    #[test]
    fn what_the_node_gets_and_gives_is_taken_once() {
        for (node, client, other) in [
            ("10.0.0.1:9042", "10.0.0.1:4711", "10.0.0.2:9042"),
            ("127.0.0.1:9042", "127.0.0.1:4711", "127.0.0.2:9042"),
            ("[::1]:9042", "[::1]:4711", "[::1]:9043"),
            ("[2001:db8::1]:9042", "[2001:db8::2]:4711", "[2001:db8::1]:9043"),
        ] {
            let [node, client, other]: [SocketAddr; 3] = [node, client, other].map(|text| text.parse().unwrap());
            let filter = for_node(node, Sample::default());
            assert!(filter.iter().all(|step| step.jt < 250 && step.jf < 250));
            let to_node = packet(client, node, 0x18, b"x");
            let from_node = packet(node, client, 0x18, b"x");
            assert!(run(&filter, &to_node, IN));
            assert!(!run(&filter, &to_node, OUT), "the same packet, on its way out of the client");
            let (taken, left) = if stays(node) { (IN, OUT) } else { (OUT, IN) };
            assert!(run(&filter, &from_node, taken));
            assert!(!run(&filter, &from_node, left));
            assert!(!run(&filter, &packet(client, node, 0x10, b""), IN), "an acknowledgement alone");
            assert!(run(&filter, &packet(client, node, 0x02, b""), IN), "the begin of a connection");
            assert!(!run(&filter, &packet(client, other, 0x18, b"x"), IN), "another node");
            assert!(!run(&filter, &packet(other, client, 0x18, b"x"), taken));
            assert!(!run(&filter, &to_node[..10], IN));
        }
    }

    #[test]
    fn a_node_that_listens_everywhere_is_heard_on_every_address() {
        let everywhere = for_node("0.0.0.0:9042".parse().unwrap(), Sample::default());
        let v4 = packet("10.0.0.2:4711".parse().unwrap(), "10.0.0.1:9042".parse().unwrap(), 0x18, b"x");
        let v6 = packet("[::1]:4711".parse().unwrap(), "[::1]:9042".parse().unwrap(), 0x18, b"x");
        assert!(run(&everywhere, &v4, IN) && run(&everywhere, &v6, IN));
        let one = for_node("10.0.0.1:9042".parse().unwrap(), Sample::default());
        assert!(run(&one, &v4, IN) && !run(&one, &v6, IN));
    }

    #[test]
    fn of_a_sample_the_same_connections_are_taken_as_are_followed() {
        for (node, client) in [("10.0.0.1:9042", "10.0.0.2"), ("[::1]:9042", "[::1]")] {
            let node: SocketAddr = node.parse().unwrap();
            let sample = Sample { level: 2, salt: 77 };
            let filter = for_node(node, sample);
            let ports = (40_000..40_200_u16).filter(|port| {
                let client: SocketAddr = format!("{client}:{port}").parse().unwrap();
                let taken = run(&filter, &packet(client, node, 0x18, b"x"), IN);
                let from_node = if stays(node) { IN } else { OUT };
                assert_eq!(run(&filter, &packet(node, client, 0x18, b"x"), from_node), taken);
                assert_eq!(taken, sample.follows(*port));
                taken
            });
            assert!((20..80).contains(&ports.count()));
        }
    }
}
