//! Standard output that may be closed: `host show … | head` is no reason to break off.

/// Like `anstream::println!`. Who reads may have gone, or its disk be full: a run that is committed stays a success, so
/// that is said once on standard error and goes no further.
macro_rules! println {
    ($($argument:tt)*) => {
        $crate::out::write(format_args!("{}\n", format_args!($($argument)*)))
    };
}

pub(crate) use println;

/// Writes text.
pub(crate) fn write(text: std::fmt::Arguments<'_>) {
    use std::io::Write;
    use std::sync::Once;
    static SAID: Once = Once::new();
    let mut out = anstream::stdout();
    if let Err(error) = out.write_fmt(text).and_then(|()| out.flush())
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        SAID.call_once(|| anstream::eprintln!("warning: standard output cannot be written: {error}"));
    }
}
