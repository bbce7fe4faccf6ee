//! What a component may use: the limits that a stage can set, and those that are fixed.

/// Most rows in one call of a row stage.
pub const ROWS_MAX: usize = 16_384;
/// Largest component file.
pub(crate) const FILE_BYTES_MAX: u64 = 64 << 20;
/// Most that `describe` and `plan` may give.
pub(crate) const DESCRIPTION_BYTES_MAX: usize = 1 << 20;
/// Largest JSON Schema of options.
pub(crate) const OPTIONS_SCHEMA_BYTES_MAX: usize = 256 << 10;
/// Largest options, as JSON text.
pub(crate) const OPTIONS_BYTES_MAX: usize = 1 << 20;
/// Most columns that a stage may read, and write.
pub(crate) const COLUMNS_MAX: usize = 1_000;
/// Longest name of a column, in bytes.
pub(crate) const COLUMN_NAME_BYTES_MAX: usize = 200;
/// Codes and names of failures are cut to so many bytes.
pub(crate) const FAILURE_CODE_BYTES_MAX: usize = 64;
/// Messages that quote a component are cut to so many bytes.
pub(crate) const MESSAGE_BYTES_MAX: usize = 2 << 10;
/// Time of a call that looks for the rows on which a component fails, at least.
const PART_DEADLINE_MS_MIN: u64 = 200;
/// Host resources (streams, pollables) alive at one time.
pub(crate) const HANDLES_MAX: usize = 1_000;
/// Random bytes of one request.
pub(crate) const RANDOM_BYTES_MAX: u64 = 64 << 10;
/// Calls of one instance of a component that declares `reuse`.
pub(crate) const REUSE_CALLS_MAX: u32 = 64;

/// What one call of a stage may use. Breaking one ends the call with an error that names it, the limit, what was found
/// and the setting that raises it; texts, log lines and stderr are cut instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// All linear memories of the instance together.
    pub memory_bytes_max: u64,
    /// Processor time of one call, the start of the instance included. Each call of a session of groups has it anew.
    pub deadline_ms_max: u64,
    /// Bytes that one call may give back, and all calls of a session of groups together.
    pub output_bytes_max: u64,
    /// Rows that one call may give back, and all calls of a session of groups together.
    pub output_rows_max: u64,
    /// Different codes among the rejections of one call.
    pub codes_max: u64,
    /// Bytes of one code.
    pub code_bytes_max: u64,
    /// The text of a rejection is cut to so many bytes.
    pub text_bytes_max: u64,
    /// Log lines of one call; the others are counted.
    pub log_lines_max: u64,
    /// A log line is cut to so many bytes.
    pub log_line_bytes_max: u64,
    /// Bytes kept of what one call writes to stderr, the last ones.
    pub stderr_bytes_max: u64,
    /// Elements of one table of the instance.
    pub table_elements_max: u64,
    /// Core instances that the component may consist of.
    pub core_instances_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes_max: 268_435_456,
            deadline_ms_max: 10_000,
            output_bytes_max: 134_217_728,
            output_rows_max: 1_048_576,
            codes_max: 100,
            code_bytes_max: 64,
            text_bytes_max: 2_048,
            log_lines_max: 100,
            log_line_bytes_max: 2_048,
            stderr_bytes_max: 4_096,
            table_elements_max: 100_000,
            core_instances_max: 64,
        }
    }
}

impl Limits {
    /// The same with less time, for `rows` of the `whole` rows that the deadline is meant for.
    pub(crate) fn for_part(&self, rows: usize, whole: usize) -> Self {
        let share = self.deadline_ms_max.saturating_mul(rows as u64) / (whole.max(1) as u64);
        let least = PART_DEADLINE_MS_MIN.min(self.deadline_ms_max);
        Self { deadline_ms_max: share.clamp(least, self.deadline_ms_max), ..self.clone() }
    }
}

/// A limit, as a number of things in memory.
pub(crate) fn count(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_rows_has_its_part_of_the_time_but_never_less_than_200_ms() {
        let deadline = |limit, rows, whole| {
            let limits = Limits { deadline_ms_max: limit, ..Limits::default() };
            limits.for_part(rows, whole).deadline_ms_max
        };
        assert_eq!(deadline(10_000, 8_192, 16_384), 5_000);
        assert_eq!(deadline(10_000, 1, 16_384), 200);
        assert_eq!(deadline(10_000, 16_384, 16_384), 10_000);
        assert_eq!(deadline(50, 1, 2), 50);
    }
}
