//! A socket that listens, and stops without losing anyone.
//!
//! The kernel accepts connections before we do, and resets those that wait when the socket
//! is closed. So newcomers are turned away first, by a filter in the kernel: their first
//! packet is dropped, they try again a second later, and find nobody, or who came after us.
//! Then all who are in are taken, and then the socket is closed.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 1024;

/// Bytes that the kernel keeps of an answer that nobody reads. What it keeps unless told
/// otherwise, several megabytes, would be much for five hundred who do not.
const UNREAD: usize = 256 << 10;

/// How long nobody must come before nobody is believed to be on the way in any longer.
const QUIET: Duration = Duration::from_millis(200);

/// Listens on an address.
pub(crate) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // On other systems than these it lets two programs listen at one place.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    socket.set_send_buffer_size(UNREAD)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Turns newcomers away, hands all who are in already to `take`, and closes.
pub(crate) async fn close(listener: tokio::net::TcpListener, mut take: impl FnMut(TcpStream)) {
    if turn_away(&listener).is_ok() {
        // Nobody new comes: this ends.
        while let Ok(Ok((stream, _))) = timeout(QUIET, listener.accept()).await {
            take(stream);
        }
    }
    // Until the kernel says that there is nobody, and not a moment longer.
    let Ok(listener) = listener.into_std() else { return };
    while let Ok((stream, _)) = listener.accept() {
        if stream.set_nonblocking(true).is_ok()
            && let Ok(stream) = TcpStream::from_std(stream)
        {
            take(stream);
        }
    }
}

/// Has the kernel drop the first packet of whoever is not in yet.
#[cfg(target_os = "linux")]
fn turn_away(listener: &tokio::net::TcpListener) -> io::Result<()> {
    use socket2::{SockFilter, SockRef};
    // Of a TCP header: where its flags are, and those of a first packet.
    const FLAGS: u32 = 13;
    const SYN: u32 = 0x02;
    const SYN_OR_ACK: u32 = 0x12;
    // Classic BPF, as linux/filter.h has it.
    const LOAD_BYTE: u16 = 0x30;
    const AND: u16 = 0x54;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    let (drop, keep) = (0, u32::MAX);
    SockRef::from(listener).attach_filter(&[
        SockFilter::new(LOAD_BYTE, 0, 0, FLAGS),
        SockFilter::new(AND, 0, 0, SYN_OR_ACK),
        SockFilter::new(JUMP_IF_EQUAL, 0, 1, SYN),
        SockFilter::new(RETURN, 0, 0, drop),
        SockFilter::new(RETURN, 0, 0, keep),
    ])
}

#[cfg(not(target_os = "linux"))]
fn turn_away(_: &tokio::net::TcpListener) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
