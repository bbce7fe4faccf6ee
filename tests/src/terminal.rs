//! A terminal for the binary to write to.

use std::path::Path;

use crate::Host;

/// Runs its arguments on a pseudo-terminal of so many columns, and hands on what they write and how they end.
const PROGRAM: &str = "
import fcntl, os, pty, struct, sys, termios
columns, command = int(sys.argv[1]), sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 40, columns, 0, 0))
    os.execv(command[0], command)
while True:
    try:
        written = os.read(terminal, 65536)
    except OSError:
        break
    if not written:
        break
    sys.stdout.buffer.write(written)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
";

/// Runs its arguments on a pseudo-terminal, closes it once a commit is shown, and ends as they do.
const CLOSES: &str = "
import os, pty, signal, sys
signal.alarm(120)
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
written = b''
while b'batch 0 is version' not in written:
    written += os.read(terminal, 65536)
os.close(terminal)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
";

impl Host {
    /// Runs it on a terminal of so many columns; all that it writes is in its standard output.
    #[must_use]
    pub fn on_terminal(self, columns: u16) -> Self {
        let python = crate::given("CRISOL_TEST_PYTHON");
        self.under(&python, &["-c", PROGRAM], Path::new(&columns.to_string())).env("TERM", "xterm")
    }

    /// Runs it on a terminal that is closed once a commit is shown.
    #[must_use]
    pub fn on_terminal_that_closes(self) -> Self {
        let python = crate::given("CRISOL_TEST_PYTHON");
        self.under(&python, &["-c", CLOSES], Path::new("terminal")).env("TERM", "xterm")
    }
}
