//! Where metrics and probes are served.

use std::fmt;
use std::io;
use std::str::FromStr;

use tokio::net::TcpListener;

use crate::holder::Holder;

/// Nobody but this machine reaches it.
const LOOPBACK: &str = "127.0.0.1";

/// An address to listen at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    host: String,
    port: u16,
}

/// A text that is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected HOST:PORT, or PORT alone for this machine only; `[::1]:9464` for IPv6, port 0 for any that is free")]
pub struct AddressError;

/// The address cannot be listened at.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Somebody else does.
    #[error("metrics cannot be served at `{address}`: {}", taken(holder.as_ref()))]
    Taken {
        /// Where.
        address: Address,
        /// Who, if it can be seen.
        holder: Option<Holder>,
    },
    /// The machine refuses it.
    #[error("metrics cannot be served at `{address}`")]
    Refused {
        /// Where.
        address: Address,
        /// What the system says.
        source: io::Error,
    },
}

impl ListenError {
    /// What a person can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Taken { .. } => "choose another port with --metrics, or 0 for any that is free",
            Self::Refused { .. } => "--metrics takes a name or an address of this machine",
        }
    }
}

fn taken(holder: Option<&Holder>) -> String {
    match holder {
        Some(Holder { name, process }) => format!("`{name}`, process {process}, listens there"),
        None => "another process listens there".into(),
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let (host, port) = text.rsplit_once(':').unwrap_or((LOOPBACK, text));
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let host = match bare {
            Some(host) => host,
            // Which colon is the last of an IPv6 address nobody can tell.
            None if host.contains([':', '/']) => return Err(AddressError),
            None if host.is_empty() => LOOPBACK,
            None => host,
        };
        let port = port.parse().map_err(|_| AddressError)?;
        Ok(Self { host: host.into(), port })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            return write!(f, "[{}]:{}", self.host, self.port);
        }
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// Takes the address.
pub(crate) async fn listen(address: &Address) -> Result<TcpListener, ListenError> {
    TcpListener::bind((address.host.as_str(), address.port)).await.map_err(|source| match source.kind() {
        io::ErrorKind::AddrInUse => ListenError::Taken { address: address.clone(), holder: Holder::of(address.port) },
        _ => ListenError::Refused { address: address.clone(), source },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Result<String, AddressError> {
        text.parse::<Address>().map(|address| address.to_string())
    }

    #[test]
    fn a_port_alone_is_this_machine_only() {
        assert_eq!(shown("9464"), Ok("127.0.0.1:9464".into()));
        assert_eq!(shown(":0"), Ok("127.0.0.1:0".into()));
        assert_eq!(shown("0.0.0.0:9464"), Ok("0.0.0.0:9464".into()));
        assert_eq!(shown("localhost:9464"), Ok("localhost:9464".into()));
        assert_eq!(shown("[::1]:9464"), Ok("[::1]:9464".into()));
        for wrong in ["", "localhost", "::1:9464", "localhost:", "localhost:99999", "http://localhost:1", "a:b"] {
            assert_eq!(shown(wrong), Err(AddressError), "{wrong}");
        }
    }

    #[tokio::test]
    async fn an_address_that_is_taken_names_who_has_it() {
        let taken = listen(&"127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address: Address = taken.local_addr().unwrap().to_string().parse().unwrap();
        let error = listen(&address).await.unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, ListenError::Taken { .. }) && text.contains(&address.to_string()), "{text}");
        if cfg!(target_os = "linux") {
            assert!(text.contains(&format!("process {}, listens there", std::process::id())), "{text}");
        }
        let error = listen(&"192.0.2.1:0".parse().unwrap()).await.unwrap_err();
        assert!(matches!(error, ListenError::Refused { .. }), "{error}");
    }
}
