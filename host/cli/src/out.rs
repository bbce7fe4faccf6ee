//! Standard output and error that may be closed or full: `host show … | head` is no reason to break off.
//!
//! The macros of the standard library and of anstream panic then. Those of this file are the only ones of the command
//! line; a test of the architecture holds that.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether anything of standard output was lost, other than to a reader that has gone.
static LOST: AtomicBool = AtomicBool::new(false);

/// Like `anstream::println!`. Who reads may have gone, or its disk be full: a run that is committed stays a success, so
/// that is said once on standard error and goes no further. Where the output is the result, [`lost`] decides.
macro_rules! println {
    ($($argument:tt)*) => {
        $crate::out::write(format_args!("{}\n", format_args!($($argument)*)))
    };
}

/// Like `anstream::eprintln!`. What cannot be written is dropped: there is nobody left to tell.
macro_rules! eprintln {
    ($($argument:tt)*) => {
        $crate::out::tell(format_args!("{}\n", format_args!($($argument)*)))
    };
}

pub(crate) use {eprintln, println};

/// Writes text to standard output.
pub(crate) fn write(text: Arguments<'_>) {
    let mut out = anstream::stdout().lock();
    if let Err(error) = out.write_fmt(text).and_then(|()| out.flush())
        && error.kind() != ErrorKind::BrokenPipe
        && !LOST.swap(true, Ordering::Relaxed)
    {
        eprintln!("warning: standard output cannot be written: {error}");
    }
}

/// Writes text to standard error.
pub(crate) fn tell(text: Arguments<'_>) {
    let mut out = anstream::stderr().lock();
    let _ = out.write_fmt(text).and_then(|()| out.flush());
}

/// Whether a disk was too full for standard output, or the like. A reader that has gone has what it wanted.
pub(crate) fn lost() -> bool {
    LOST.load(Ordering::Relaxed)
}
