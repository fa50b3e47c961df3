use std::io::Write;
use std::net::TcpListener;

use proptest::prelude::*;

use super::*;

fn read_result(reader: &mut BodyReader<'_>) -> Result<Rows, Malformed> {
    prepared::read_rows(reader)?.decode()
}

/// A server that answers the first request with `answer` and closes.
fn server(answer: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.10.220:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 9];
        io::Read::read_exact(&mut stream, &mut request).unwrap();
        stream.write_all(answer).unwrap();
    });
    address
}

#[test]
fn another_protocol_is_named_as_such() {
    let error = identify(server(b"HTTP/1.1 400 Bad Request\r\n\r\n"), Duration::from_secs(5)).unwrap_err();
    assert!(matches!(error, Error::NotCql { .. }), "{error}");
}

#[test]
fn a_closed_connection_is_named_as_such() {
    let error = identify(server(b""), Duration::from_secs(5)).unwrap_err();
    assert!(matches!(error, Error::Closed { .. }), "{error}");
}

#[test]
fn a_silent_server_is_a_timeout() {
    let listener = TcpListener::bind("127.0.10.220:0").unwrap();
    let error = identify(listener.local_addr().unwrap(), Duration::from_millis(50)).unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
}

#[test]
fn nobody_there_says_so() {
    let address = TcpListener::bind("127.0.10.220:0").unwrap().local_addr().unwrap();
    assert!(matches!(identify(address, Duration::from_secs(5)).unwrap_err(), Error::Connect { .. }));
}

#[test]
fn the_servers_refusal_is_passed_on() {
    let answer = b"\x83\0\0\0\x00\0\0\0\x0a\0\0\0\x0a\0\x04nope";
    let error = identify(server(answer), Duration::from_secs(5)).unwrap_err().to_string();
    assert!(error.contains("nope (code 0x000a)"), "{error}");
}

#[test]
fn addresses_are_read_with_and_without_a_port() {
    let of = |text: &str| parse_address(text).map(|address| address.to_string());
    assert_eq!(of("127.0.0.1").as_deref(), Some("127.0.0.1:9042"));
    assert_eq!(of("127.0.0.1:9043").as_deref(), Some("127.0.0.1:9043"));
    assert_eq!(of("localhost").as_deref(), Some("127.0.0.1:9042"));
    assert_eq!(of("localhost:1").as_deref(), Some("127.0.0.1:1"));
    assert_eq!(of("::1").as_deref(), Some("[::1]:9042"));
    assert_eq!(of("[::1]:7").as_deref(), Some("[::1]:7"));
    for bad in ["", "nowhere", "127.0.0.1:", "127.0.0.1:99999", "localhostess"] {
        assert_eq!(of(bad), None, "{bad}");
    }
}

#[test]
fn rows_of_every_type_are_read() {
    let mut body = Vec::new();
    let int = |body: &mut Vec<u8>, value: i32| body.extend(value.to_be_bytes());
    int(&mut body, 2); // rows
    int(&mut body, 1); // one table for all columns
    int(&mut body, 4);
    frame::put_string(&mut body, "ks");
    frame::put_string(&mut body, "t");
    let types: [&[u8]; 4] = [&[0, 0x0D], &[0, 0x22, 0, 0x09], &[0, 0x21, 0, 0x0D, 0, 0x04], &[0, 0x0C]];
    for (name, of) in ["name", "numbers", "flags", "id"].iter().zip(types) {
        frame::put_string(&mut body, name);
        body.extend(of);
    }
    int(&mut body, 1);
    let value = |body: &mut Vec<u8>, bytes: &[u8]| {
        body.extend((bytes.len() as i32).to_be_bytes());
        body.extend(bytes);
    };
    value(&mut body, b"Troy");
    value(&mut body, &[0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 7, 0, 0, 0, 4, 255, 255, 255, 255]);
    value(&mut body, &[0, 0, 0, 1, 0, 0, 0, 1, b'a', 0, 0, 0, 1, 1]);
    int(&mut body, -1);
    let rows = read_result(&mut BodyReader::new(&body)).unwrap();
    assert_eq!(rows.get(0, "name"), &Value::Text("Troy".into()));
    assert_eq!(rows.get(0, "numbers").to_string(), "[7, -1]");
    assert_eq!(rows.get(0, "flags").to_string(), "{a: true}");
    assert_eq!(rows.get(0, "id"), &Value::Null);
    assert_eq!(rows.get(1, "name"), &Value::Null);
}

#[test]
fn a_uuid_is_shown_as_usual() {
    let bytes = [0x6a, 0xa0, 0x82, 0, 0xa2, 0x51, 0x11, 0xf0, 0xa3, 0xfe, 0xf1, 0xa5, 0x51, 0x38, 0x3f, 0xb9];
    assert_eq!(Value::Uuid(bytes).to_string(), "6aa08200-a251-11f0-a3fe-f1a551383fb9");
}

proptest! {
    #[test]
    fn no_bytes_make_the_readers_panic(bytes: Vec<u8>) {
        if let Ok(frame) = frame::read(&mut bytes.as_slice(), frame::LARGEST) {
            let _ = read_result(&mut frame.reader());
        }
        let _ = read_result(&mut BodyReader::new(&bytes));
        let _ = read_result(&mut BodyReader::new(&[&[0, 0, 0, 2][..], &bytes].concat()));
    }

    #[test]
    fn what_is_cut_short_is_an_error(cut in 0usize..40) {
        let mut body = vec![0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1];
        for text in ["ks", "t", "c"] {
            frame::put_string(&mut body, text);
        }
        body.extend([0, 0x0D, 0, 0, 0, 1, 0, 0, 0, 1, b'x']);
        prop_assume!(cut < body.len());
        prop_assert!(read_result(&mut BodyReader::new(&body)).is_ok());
        prop_assert!(read_result(&mut BodyReader::new(&body[..cut])).is_err());
    }
}

/// Numbers and nesting of a hostile node take no more memory or stack than its bytes.
#[test]
fn hostile_columns_and_types_are_refused() {
    let of = |columns: i32, rest: &[u8]| {
        let body = [&[0, 0, 0, 2, 0, 0, 0, 1][..], &columns.to_be_bytes(), &[0, 1, b'k', 0, 1, b't'], rest].concat();
        read_result(&mut BodyReader::new(&body)).unwrap_err().0
    };
    assert_eq!(of(i32::MAX, &[0; 64]), "more than 65,536 columns");
    assert_eq!(of(1, &[&[0, 1, b'c'][..], &[0, 0x20].repeat(1 << 20)].concat()), "a type nests too deep");
    // A tuple of tuples, each with as many parts as its length can say.
    let wide = [&[0, 1, b'c'][..], &[0, 0x31, 255, 255].repeat(20), &[0, 9].repeat(1 << 20)].concat();
    assert_eq!(of(1, &wide), "a type of more than 16,384 parts");
    let column = [&[0, 1, b'c', 0, 0x31, 0x3f, 0xf0][..], &[0, 9].repeat(0x3ff0)].concat();
    assert_eq!(of(1_000, &column.repeat(100)), "columns whose types take more than 32 MiB");
    let prepared = [&[0, 0, 0, 4, 0, 1, 7, 0, 0, 0, 0][..], &[0, 0, 0, 0, 0x7f, 255, 255, 255], &[0; 64]].concat();
    assert_eq!(
        prepared::read_prepared(&mut BodyReader::new(&prepared)).unwrap_err().0,
        "more than 65,536 columns of a key"
    );
}

#[test]
fn a_larger_answer_than_wanted_is_refused() {
    let announced = |length: u32| [&[0x84, 0, 0, 0, opcode::RESULT][..], &length.to_be_bytes()].concat();
    let read = |length, most| frame::read(&mut announced(length).as_slice(), most);
    assert!(
        matches!(read(i32::MAX as u32, frame::LARGEST), Err(FrameError::Malformed(Malformed(why))) if why.contains("64 MiB"))
    );
    assert!(matches!(read(2_000, 1_000), Err(FrameError::Malformed(Malformed(why))) if why.contains("read here")));
    assert!(matches!(read(2_000, 2_000), Err(FrameError::Io(_))), "it is too short");
}

/// An answer that announces many bytes and sends one now and then.
struct Drip(u8);

impl std::io::Read for Drip {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        const HEADER: [u8; 9] = [0x84, 0, 0, 0, opcode::SUPPORTED, 0, 0xff, 0xff, 0xff];
        std::thread::sleep(Duration::from_millis(1));
        into[0] = HEADER.get(usize::from(self.0)).copied().unwrap_or(0);
        self.0 = self.0.saturating_add(1);
        Ok(1)
    }
}

impl std::io::Write for Drip {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_answer_that_drips_is_given_up() {
    let listener = std::net::TcpListener::bind("127.0.21.16:0").unwrap();
    let address = listener.local_addr().unwrap();
    let opened = Connection::open_over(address, Duration::from_millis(100), None, &|_| Ok(Box::new(Drip(0))));
    assert!(matches!(opened, Err(Error::Timeout { .. })), "{opened:?}");
}
