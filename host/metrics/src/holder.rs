//! Which process listens at a port, where the system tells it: Linux, in `/proc`.

use std::fs;

/// The state of a socket that listens, as `/proc/net/tcp` writes it.
const LISTENS: &str = "0A";

/// A process that listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its name.
    pub name: String,
    /// Its number.
    pub process: u32,
}

impl Holder {
    /// Who listens at a port; `None` when that cannot be seen, as of other users' processes.
    pub(crate) fn of(port: u16) -> Option<Self> {
        let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|file| fs::read_to_string(file).unwrap_or_default());
        let sockets: Vec<String> = tables.iter().flat_map(|table| sockets(table, port)).collect();
        let mut processes = fs::read_dir("/proc").ok()?.flatten();
        processes.find_map(|entry| {
            let process = entry.file_name().to_str()?.parse().ok()?;
            let mut files = fs::read_dir(entry.path().join("fd")).ok()?.flatten();
            files.find(|file| {
                fs::read_link(file.path())
                    .is_ok_and(|target| sockets.iter().any(|socket| target.as_os_str() == &**socket))
            })?;
            let name = fs::read_to_string(entry.path().join("comm")).ok()?;
            Some(Self { name: name.trim().into(), process })
        })
    }
}

/// The sockets that listen at a port, as a process's files lead to them.
fn sockets(table: &str, port: u16) -> Vec<String> {
    let socket = |line: &str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let (_, at) = fields.get(1)?.rsplit_once(':')?;
        let listens = u16::from_str_radix(at, 16) == Ok(port) && *fields.get(3)? == LISTENS;
        listens.then(|| Some(format!("socket:[{}]", fields.get(9)?)))?
    };
    table.lines().skip(1).filter_map(socket).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sockets_that_listen_at_the_port_count() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
             0: 0100007F:24F8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0        0 4711 1\n   \
             1: 0100007F:24F8 0100007F:9999 01 00000000:00000000 00:00000000 00000000  0        0 4712 1\n   \
             2: 0100007F:24F9 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0        0 4713 1\n   3: odd\n";
        assert_eq!(sockets(table, 0x24F8), ["socket:[4711]"]);
        assert_eq!(sockets("", 1), Vec::<String>::new());
    }
}
