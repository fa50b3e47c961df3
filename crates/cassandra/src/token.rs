//! Tokens of partition keys, as `Murmur3Partitioner` computes them.
//!
//! Source: Apache Cassandra, `org.apache.cassandra.utils.MurmurHash.hash3_x64_128`. It differs from MurmurHash3 in the last
//! bytes of a key, which it takes as signed.

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

/// The token of a partition key as the server serializes it: the value of a single column, or, of several, the length of each
/// value as two bytes, the value, and a zero.
#[must_use]
pub fn murmur3_token(key: &[u8]) -> i64 {
    if key.is_empty() {
        return i64::MIN;
    }
    let (mut h1, mut h2) = (0_u64, 0_u64);
    let (blocks, tail) = key.as_chunks::<16>();
    for block in blocks {
        let [k1, k2] = [0, 8].map(|at| block[at..at + 8].iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)));
        h1 = (h1 ^ first(k1)).rotate_left(27).wrapping_add(h2).wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 = (h2 ^ second(k2)).rotate_left(31).wrapping_add(h1).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    let (low, high) = tail.split_at(tail.len().min(8));
    h1 ^= first(signed(low));
    h2 ^= second(signed(high));
    let length = key.len() as u64;
    h1 ^= length;
    h2 ^= length;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    match mixed(h1).wrapping_add(mixed(h2)).cast_signed() {
        // The smallest token is reserved for the beginning of the ring.
        i64::MIN => i64::MAX,
        token => token,
    }
}

fn first(k1: u64) -> u64 {
    k1.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

fn second(k2: u64) -> u64 {
    k2.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

/// Up to eight bytes, each taken as a signed number.
fn signed(bytes: &[u8]) -> u64 {
    let each = bytes.iter().enumerate();
    each.fold(0, |all, (at, byte)| all ^ i64::from(byte.cast_signed()).cast_unsigned() << (8 * at))
}

fn mixed(mut hash: u64) -> u64 {
    hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ hash >> 33
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of a node's `SELECT token(key)` and of the Python driver's `cassandra.metadata.murmur3`.
    #[test]
    fn tokens_are_those_of_the_server() {
        for (key, token) in [
            (&b"123"[..], -7_468_325_962_851_647_638),
            (&[0, 255, 16, 250, 153].repeat(10), 5_837_342_703_291_459_765),
            (&[254; 8], -8_927_430_733_708_461_935),
            (&1_i32.to_be_bytes(), -4_069_959_284_402_364_209),
            (&(-7_i32).to_be_bytes(), 4_646_288_613_654_219_998),
            (&42_i64.to_be_bytes(), 8_623_491_988_607_824_794),
            ("café".as_bytes(), -5_777_272_221_172_978_824),
            (&(120..136).collect::<Vec<u8>>(), -7_401_734_793_636_492_071),
            (&(200..231).collect::<Vec<u8>>(), 4_398_332_801_500_074_197),
            // A key of two columns with the values 17 and 'de'.
            (&[0, 4, 0, 0, 0, 17, 0, 0, 2, b'd', b'e', 0], -2_294_979_412_346_716_263),
            (&[], i64::MIN),
        ] {
            assert_eq!(murmur3_token(key), token, "{key:?}");
        }
    }
}
