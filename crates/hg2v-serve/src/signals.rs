//! What may be asked of a running server from outside.

use std::task::Poll;

/// What may be asked of a running server.
#[derive(Debug)]
pub(crate) struct Signals {
    /// SIGTERM or Ctrl-C: to end.
    pub(crate) stop: Signal,
    /// SIGHUP: to look at the files.
    pub(crate) look: Signal,
}

impl Signals {
    /// Listens from now on, within a runtime.
    #[cfg(unix)]
    pub(crate) fn new() -> std::io::Result<Signals> {
        use tokio::signal::unix::SignalKind;
        Ok(Signals {
            stop: Signal::new(&[SignalKind::terminate(), SignalKind::interrupt()])?,
            look: Signal::new(&[SignalKind::hangup()])?,
        })
    }

    #[cfg(windows)]
    pub(crate) fn new() -> std::io::Result<Signals> {
        let stop = Signal { any: vec![tokio::signal::windows::ctrl_c()?] };
        Ok(Signals { stop, look: Signal { any: Vec::new() } })
    }
}

/// Any of some signals; of none, none ever.
#[derive(Debug)]
pub(crate) struct Signal {
    #[cfg(unix)]
    any: Vec<tokio::signal::unix::Signal>,
    #[cfg(windows)]
    any: Vec<tokio::signal::windows::CtrlC>,
}

impl Signal {
    #[cfg(unix)]
    fn new(kinds: &[tokio::signal::unix::SignalKind]) -> std::io::Result<Signal> {
        let any = kinds.iter().map(|&kind| tokio::signal::unix::signal(kind));
        Ok(Signal { any: any.collect::<std::io::Result<_>>()? })
    }

    pub(crate) async fn next(&mut self) {
        std::future::poll_fn(|context| {
            let came = self.any.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
            if came { Poll::Ready(()) } else { Poll::Pending }
        })
        .await
    }
}
