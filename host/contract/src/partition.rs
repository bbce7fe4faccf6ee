//! Which types may partition a table: those whose values the protocol of Delta writes as text and reads back the same.

use arrow_schema::DataType;

/// What to do about a column that cannot partition.
pub const PARTITION_HINT: &str = "partition by a string, boolean, whole number, decimal, date or timestamp; a `generated` \
                                  column with a CAST may give one";

/// Whether a column of this type may stand in `partition_by`.
///
/// The table room refuses by itself what must not reach a disk; a test of the pipeline holds the two together.
pub fn can_partition(data_type: &DataType) -> bool {
    data_type.is_integer()
        || matches!(
            data_type,
            DataType::Utf8 | DataType::Boolean | DataType::Date32 | DataType::Timestamp(..) | DataType::Decimal128(..)
        )
}
