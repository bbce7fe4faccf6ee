//! The terminal that bars are drawn on. It may go away while a run goes on, and indicatif panics when it cannot draw.

use std::io;

use console::Term;
use indicatif::{MultiProgress, ProgressDrawTarget, TermLike};

const DRAWS_A_SECOND: u8 = 20;

/// What is drawn on standard error, if that is a terminal.
pub(crate) fn bars() -> MultiProgress {
    let usual = ProgressDrawTarget::stderr();
    if usual.is_hidden() {
        return MultiProgress::with_draw_target(usual);
    }
    let screen = Box::new(Screen(Term::buffered_stderr()));
    MultiProgress::with_draw_target(ProgressDrawTarget::term_like_with_hz(screen, DRAWS_A_SECOND))
}

/// A terminal; what it does not take is dropped.
#[derive(Debug)]
struct Screen(Term);

/// Bars are for who looks at them.
fn dropped(result: io::Result<()>) -> io::Result<()> {
    result.or(Ok(()))
}

impl TermLike for Screen {
    fn width(&self) -> u16 {
        self.0.size().1
    }

    fn height(&self) -> u16 {
        self.0.size().0
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        dropped(self.0.move_cursor_up(n))
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        dropped(self.0.move_cursor_down(n))
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        dropped(self.0.move_cursor_right(n))
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        dropped(self.0.move_cursor_left(n))
    }

    fn write_line(&self, s: &str) -> io::Result<()> {
        dropped(self.0.write_line(s))
    }

    fn write_str(&self, s: &str) -> io::Result<()> {
        dropped(self.0.write_str(s))
    }

    fn clear_line(&self) -> io::Result<()> {
        dropped(self.0.clear_line())
    }

    fn flush(&self) -> io::Result<()> {
        dropped(self.0.flush())
    }
}
