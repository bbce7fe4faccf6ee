//! Type names of contracts (Spark's) and their Arrow forms.

use arrow_schema::DataType;

/// The Arrow form of a type name.
///
/// # Errors
/// Text for people: what is not understood, and the nearest valid name.
pub fn parse(text: &str) -> Result<DataType, String> {
    Err(format!("`{text}` is not a type"))
}

/// The type name of an Arrow type; the inverse of [`parse`] for the types that contracts have.
pub fn name(data_type: &DataType) -> Option<String> {
    let _ = data_type;
    None
}
