//! Parses the fields of a TCP packet, from its IP header on.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The sender of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Node,
}

const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const ACK: u8 = 0x10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Packet<'a> {
    pub(super) client: SocketAddr,
    pub(super) from: Side,
    /// The sequence number of the first byte.
    pub(super) sequence: u32,
    /// The sequence number up to which the other side's data was received.
    acknowledged: u32,
    flags: u8,
    pub(super) payload: &'a [u8],
}

impl Side {
    pub(super) fn other(self) -> Side {
        match self {
            Side::Client => Side::Node,
            Side::Node => Side::Client,
        }
    }
}

impl<'a> Packet<'a> {
    /// A packet built from bytes that did not come from the network.
    pub(super) fn tapped(
        client: SocketAddr,
        from: Side,
        sequence: u32,
        acknowledged: u32,
        begins: bool,
        breaks_off: bool,
        payload: &'a [u8],
    ) -> Packet<'a> {
        let begin = if begins { SYN } else { 0 };
        let end = if breaks_off { RST } else { 0 };
        Packet { client, from, sequence, acknowledged, flags: ACK | begin | end, payload }
    }
}

impl Packet<'_> {
    /// Parses a packet from or to a node's port; None for all other packets.
    pub(super) fn read(bytes: &[u8], port: u16) -> Option<Packet<'_>> {
        let (source, destination, tcp) = match bytes.first()? >> 4 {
            4 => {
                let header = usize::from(bytes[0] & 0x0F) * 4;
                // Ethernet pads short packets. A length of 0 means that the length is too large for the field.
                let length = usize::from(u16::from_be_bytes(part(bytes, 2)?));
                let bytes = if length == 0 { bytes } else { bytes.get(..length).unwrap_or(bytes) };
                let address = |at| part::<4>(bytes, at).map(|octets| IpAddr::from(Ipv4Addr::from(octets)));
                if header < 20 || *bytes.get(9)? != libc::IPPROTO_TCP as u8 {
                    return None;
                }
                (address(12)?, address(16)?, bytes.get(header..)?)
            }
            6 => {
                let length = usize::from(u16::from_be_bytes(part(bytes, 4)?));
                let bytes = if length == 0 { bytes } else { bytes.get(..40 + length).unwrap_or(bytes) };
                let address = |at| part::<16>(bytes, at).map(|octets| Ipv6Addr::from(octets).to_canonical());
                if *bytes.get(6)? != libc::IPPROTO_TCP as u8 {
                    return None;
                }
                (address(8)?, address(24)?, bytes.get(40..)?)
            }
            _ => return None,
        };
        let ports = (u16::from_be_bytes(part(tcp, 0)?), u16::from_be_bytes(part(tcp, 2)?));
        let (from, client) = match ports {
            (_, to) if to == port => (Side::Client, SocketAddr::new(source, ports.0)),
            (from, _) if from == port => (Side::Node, SocketAddr::new(destination, ports.1)),
            _ => return None,
        };
        let header = usize::from(tcp.get(12)? >> 4) * 4;
        if header < 20 {
            return None;
        }
        Some(Packet {
            client,
            from,
            sequence: u32::from_be_bytes(part(tcp, 4)?),
            acknowledged: u32::from_be_bytes(part(tcp, 8)?),
            flags: *tcp.get(13)?,
            payload: tcp.get(header..)?,
        })
    }

    pub(super) fn acknowledged(&self) -> Option<u32> {
        (self.flags & ACK != 0).then_some(self.acknowledged)
    }

    pub(super) fn begins(&self) -> bool {
        self.flags & SYN != 0
    }

    pub(super) fn breaks_off(&self) -> bool {
        self.flags & RST != 0
    }

    pub(super) fn ends(&self) -> bool {
        self.flags & FIN != 0
    }
}

fn part<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_bytes_can_make_it_panic(mut bytes: Vec<u8>, version in prop::sample::select(vec![0x45u8, 0x4F, 0x60])) {
            if let Some(first) = bytes.first_mut() {
                *first = version;
            }
            let _ = Packet::read(&bytes, 9042);
        }
    }

    #[test]
    fn a_packet_is_read_without_its_padding() {
        let mut bytes = vec![0x45, 0, 0, 42, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1];
        bytes.extend([0x12, 0x67, 0x23, 0x52, 0, 0, 0, 7, 0, 0, 0, 0, 0x50, 0x18, 0, 0, 0, 0, 0, 0]);
        bytes.extend(b"hi\0\0\0\0");
        let packet = Packet::read(&bytes, 9042).unwrap();
        assert_eq!(packet.client, "10.0.0.2:4711".parse().unwrap());
        assert_eq!((packet.from, packet.sequence, packet.payload), (Side::Client, 7, &b"hi"[..]));
        assert!(!packet.begins() && !packet.ends() && !packet.breaks_off());
        assert_eq!(Packet::read(&bytes, 9043), None);
    }
}
