//! A socket that knows when nobody reads, and closes so that its last answer is read.
//!
//! A socket that is closed while bytes are on their way to it resets the connection, and
//! with that the other side loses what it has not read yet: the answer that says why its
//! body was not taken. So only our half is closed at first, and what still comes is thrown
//! away, up to a bound.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::pulse::{Phase, Pulse};

/// What is read at a time to be thrown away.
const PIECE: usize = 1 << 14;

/// A socket, and what its connection is doing.
#[derive(Debug)]
pub(crate) struct Wire {
    stream: TcpStream,
    pulse: Arc<Pulse>,
    /// Bytes that may still be thrown away.
    thrown: u64,
}

impl Wire {
    /// Throws away `thrown` bytes at most when it is closed.
    pub(crate) fn new(stream: TcpStream, pulse: Arc<Pulse>, thrown: u64) -> Wire {
        Wire { stream, pulse, thrown }
    }

    fn noted<T>(&self, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        self.pulse.written(written.is_ready());
        written
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.noted(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.noted(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.pulse.phase() != Phase::Closing {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
            self.pulse.enter(Phase::Closing);
        }
        while self.thrown > 0 {
            let mut piece = [MaybeUninit::uninit(); PIECE];
            let mut piece = ReadBuf::uninit(&mut piece);
            ready!(Pin::new(&mut self.stream).poll_read(context, &mut piece))?;
            match piece.filled().len() as u64 {
                0 => break,
                length => self.thrown = self.thrown.saturating_sub(length),
            }
        }
        Poll::Ready(Ok(()))
    }
}
