//! A wire between client and broker that can be cut.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Hands bytes on between those who connect and a broker.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    wire: Arc<Wire>,
}

#[derive(Debug, Default)]
struct Wire {
    target: Mutex<Option<String>>,
    /// How many connections are still to be cut, and after how many bytes of the broker's.
    cuts: Mutex<(u32, u64)>,
    closed: AtomicBool,
}

impl Proxy {
    /// Listens on a free port of this machine.
    pub fn listen() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let wire = Arc::new(Wire::default());
        let accepting = Arc::clone(&wire);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if accepting.closed.load(Ordering::Relaxed) {
                    break;
                }
                accepting.connect(client);
            }
        });
        Self { address, wire }
    }

    /// Where it listens, `HOST:PORT`.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Leads to this broker from now on; before, each connection is closed at once.
    pub fn lead_to(&self, target: &str) {
        *lock(&self.wire.target) = Some(target.to_owned());
    }

    /// Cuts as many connections as `times`, each when the broker has sent so many bytes over it.
    pub fn cut(&self, times: u32, after_bytes: u64) {
        *lock(&self.wire.cuts) = (times, after_bytes);
    }

    /// How many cuts are still to be made.
    pub fn cuts_left(&self) -> u32 {
        lock(&self.wire.cuts).0
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.wire.closed.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
    }
}

impl Wire {
    fn connect(self: &Arc<Self>, client: TcpStream) {
        let target = lock(&self.target).clone();
        let Some(broker) = target.and_then(|target| TcpStream::connect(target).ok()) else { return };
        let (Ok(from_client), Ok(to_broker)) = (client.try_clone(), broker.try_clone()) else { return };
        std::thread::spawn(move || carry(from_client, to_broker, |_| true));
        let wire = Arc::clone(self);
        std::thread::spawn(move || carry(broker, client, |carried| !wire.is_due(carried)));
    }

    /// Whether a connection that has carried so much is cut now.
    fn is_due(&self, carried: u64) -> bool {
        let mut cuts = lock(&self.cuts);
        let due = cuts.0 > 0 && carried >= cuts.1;
        if due {
            cuts.0 -= 1;
        }
        due
    }
}

/// Hands bytes on until one side ends or `goes_on` says no; then both ends are closed.
fn carry(mut from: TcpStream, mut to: TcpStream, goes_on: impl Fn(u64) -> bool) {
    let mut bytes = vec![0; 16 << 10];
    let mut carried = 0;
    while let Ok(count) = from.read(&mut bytes) {
        carried += count as u64;
        if count == 0 || !goes_on(carried) || to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
