//! Columns taken from the JSON files present, as Spark would (F-001 as decided): integers are `bigint`, other numbers
//! `double`, what conflicts is `string`. The same files give the same columns, in the order of their names.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use arrow_schema::{DataType, Field};
use crisol_contract::{FileFormat, FilesSpec};
use crisol_ipc::types::{list_of, name};
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::listing::list;
use crate::SourceError;
use crate::chunks::off_thread;

/// How much of the files is looked at, in the order in which they will be read.
const SAMPLE_BYTES: u64 = 64 << 20;
const SAMPLE_RECORDS: u64 = 100_000;

/// Names that the source adds itself.
const RESERVED: [&str; 3] = ["file_path", "file_row", "file_modified"];

/// Columns with their type names, kept as text in the checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct InferredSchema {
    /// Name and type (`bigint`, `array<string>`, …) of each column.
    pub columns: Vec<(String, String)>,
}

impl InferredSchema {
    /// The text that the checkpoint keeps.
    pub fn to_text(&self) -> String {
        // Strings always have a JSON form.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The inverse of [`InferredSchema::to_text`].
    ///
    /// # Errors
    /// When the text is something else.
    pub fn from_text(text: &str) -> Result<Self, SourceError> {
        serde_json::from_str(text).map_err(|e| {
            SourceError::config(
                format!("the columns kept in the checkpoint cannot be read: {e}"),
                "give `source.schema` in the contract; or restore the checkpoint folder from a backup",
            )
        })
    }
}

/// Takes the columns from the files present.
///
/// # Errors
/// When there is no file yet, none of the lines looked at is a JSON object, or names clash.
pub async fn infer_schema(spec: &FilesSpec) -> Result<InferredSchema, SourceError> {
    if spec.format == FileFormat::Text {
        return Ok(InferredSchema { columns: vec![("payload".into(), "string".into())] });
    }
    let path = spec.path.clone();
    off_thread(move || infer(&path)).await
}

fn infer(path: &str) -> Result<InferredSchema, SourceError> {
    let hint = "give the columns as `source.schema` in the contract, or start again when a file has come";
    let files = list(path, false)?;
    if files.is_empty() {
        return Err(SourceError::config(
            format!("`{path}` holds no file yet, so the columns cannot be taken from it"),
            hint,
        ));
    }
    let mut shape = Shape::Null;
    let mut left = Sample { bytes: SAMPLE_BYTES, records: SAMPLE_RECORDS };
    for file in &files {
        let name = file.path.display();
        let opened = File::open(&file.path).map_err(|e| SourceError::caused(format!("file `{name}`"), e))?;
        left.look(&mut BufReader::new(opened), &mut shape).map_err(|e| match e {
            Trouble::Io(e) => SourceError::caused(format!("file `{name}` cannot be read"), e),
            Trouble::Names(row, e) => clash(&format!("file `{name}` row {row}: {e}")),
        })?;
    }
    let Shape::Struct(fields) = shape else {
        return Err(SourceError::config(format!("no line of the files in `{path}` is a JSON object"), hint));
    };
    columns(&fields, path)
}

fn columns(fields: &BTreeMap<String, Shape>, path: &str) -> Result<InferredSchema, SourceError> {
    check_names(fields).map_err(|e| clash(&format!("files in `{path}`: {e}")))?;
    if let Some(taken) = fields.keys().find(|field| RESERVED.iter().any(|r| r.eq_ignore_ascii_case(field))) {
        return Err(SourceError::config(
            format!("files in `{path}` have a field `{taken}`, a name that the source itself uses"),
            "give the columns as `source.schema`, without this one",
        ));
    }
    let columns = fields.iter().map(|(field, shape)| {
        let type_name = name(&shape.data_type()).unwrap_or_else(|| "string".into());
        (field.clone(), type_name)
    });
    Ok(InferredSchema { columns: columns.collect() })
}

fn clash(what: &str) -> SourceError {
    SourceError::config(what, "give the columns as `source.schema` in the contract, with names that differ")
}

struct Sample {
    bytes: u64,
    records: u64,
}

enum Trouble {
    Io(std::io::Error),
    Names(u64, String),
}

impl Sample {
    fn look(&mut self, file: &mut impl BufRead, shape: &mut Shape) -> Result<(), Trouble> {
        let mut line = Vec::new();
        let mut row = 0;
        while self.records > 0 && self.bytes > 0 {
            line.clear();
            let read = file.by_ref().take(self.bytes).read_until(b'\n', &mut line).map_err(Trouble::Io)?;
            if read == 0 {
                return Ok(());
            }
            self.bytes = self.bytes.saturating_sub(read as u64);
            match serde_json::from_slice::<Shape>(&line) {
                Ok(record @ Shape::Struct(_)) => {
                    self.records -= 1;
                    shape.merge(record);
                }
                Err(e) if e.to_string().starts_with(DUPLICATE) => return Err(Trouble::Names(row, e.to_string())),
                // Blank lines, and what is no object: quarantined later, no help here.
                Ok(_) | Err(_) => {}
            }
            row += 1;
        }
        Ok(())
    }
}

const DUPLICATE: &str = "two fields are named";

/// What is known of a value's type.
#[derive(Debug, Clone, PartialEq)]
enum Shape {
    Null,
    Boolean,
    Long,
    /// An integer beyond 64 bits signed.
    Big,
    Double,
    Text,
    List(Box<Shape>),
    Struct(BTreeMap<String, Shape>),
}

impl Shape {
    fn merge(&mut self, other: Shape) {
        match (&mut *self, other) {
            (_, Shape::Null) => {}
            (Shape::Null, other) => *self = other,
            (Shape::List(mine), Shape::List(other)) => mine.merge(*other),
            (Shape::Struct(mine), Shape::Struct(other)) => {
                for (field, shape) in other {
                    mine.entry(field).or_insert(Shape::Null).merge(shape);
                }
            }
            (Shape::Long | Shape::Big | Shape::Double, other @ (Shape::Long | Shape::Big | Shape::Double)) => {
                if other.width() > self.width() {
                    *self = other;
                }
            }
            (mine, other) if *mine == other => {}
            _ => *self = Shape::Text,
        }
    }

    fn width(&self) -> u8 {
        match self {
            Shape::Double => 2,
            Shape::Big => 1,
            _ => 0,
        }
    }

    fn data_type(&self) -> DataType {
        match self {
            Shape::Null | Shape::Text => DataType::Utf8,
            Shape::Boolean => DataType::Boolean,
            Shape::Long => DataType::Int64,
            Shape::Big => DataType::Decimal128(20, 0),
            Shape::Double => DataType::Float64,
            Shape::List(element) => list_of(element.data_type()),
            // An object without fields has no columns to go to.
            Shape::Struct(fields) if fields.is_empty() => DataType::Utf8,
            Shape::Struct(fields) => {
                DataType::Struct(fields.iter().map(|(name, s)| Field::new(name, s.data_type(), true)).collect())
            }
        }
    }
}

/// Names that differ only by case are refused (P-019), at every depth.
fn check_names(fields: &BTreeMap<String, Shape>) -> Result<(), String> {
    let mut lower = BTreeMap::new();
    for (field, shape) in fields {
        if let Some(other) = lower.insert(field.to_lowercase(), field) {
            return Err(format!("fields `{other}` and `{field}` differ only by case"));
        }
        let mut shape = shape;
        while let Shape::List(element) = shape {
            shape = element;
        }
        if let Shape::Struct(inner) = shape {
            check_names(inner)?;
        }
    }
    Ok(())
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShapeVisitor)
    }
}

struct ShapeVisitor;

impl<'de> Visitor<'de> for ShapeVisitor {
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Shape, E> {
        Ok(Shape::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Shape, E> {
        Ok(Shape::Boolean)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Shape, E> {
        Ok(Shape::Long)
    }

    fn visit_u64<E>(self, value: u64) -> Result<Shape, E> {
        Ok(if i64::try_from(value).is_ok() { Shape::Long } else { Shape::Big })
    }

    fn visit_f64<E>(self, _: f64) -> Result<Shape, E> {
        Ok(Shape::Double)
    }

    fn visit_str<E>(self, _: &str) -> Result<Shape, E> {
        Ok(Shape::Text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Shape, A::Error> {
        let mut shape = Shape::Null;
        while let Some(element) = elements.next_element::<Shape>()? {
            shape.merge(element);
        }
        Ok(Shape::List(Box::new(shape)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Shape, A::Error> {
        let mut fields = BTreeMap::new();
        while let Some((field, shape)) = entries.next_entry::<String, Shape>()? {
            if fields.contains_key(&field) {
                return Err(A::Error::custom(format!("{DUPLICATE} `{field}`")));
            }
            fields.insert(field, shape);
        }
        Ok(Shape::Struct(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn inferred(files: &[(&str, &str)]) -> Result<Vec<(String, String)>, SourceError> {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        let spec = FilesSpec {
            format: FileFormat::Json,
            path: folder.path().to_str().unwrap().into(),
            schema: None,
            max_files_per_trigger: None,
            max_bytes_per_trigger: None,
            latest_first: false,
        };
        Ok(infer_schema(&spec).await?.columns)
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(n, t)| ((*n).to_owned(), (*t).to_owned())).collect()
    }

    #[tokio::test]
    async fn f001_types_are_merged_over_all_files_and_columns_come_by_name() {
        let columns = inferred(&[
            ("a.json", "{\"n\":1,\"x\":1,\"s\":\"a\",\"b\":true,\"none\":null}\n\nnot json\n[1]\n"),
            (
                "b.json",
                "{\"n\":2.5,\"x\":\"one\",\"l\":[1,null],\"o\":{\"q\":[{\"k\":1}],\"e\":{}}}\n{\"o\":{\"z\":false}}",
            ),
            ("c.json", "{\"big\":18446744073709551615,\"l\":[]}"),
        ]);
        assert_eq!(
            columns.await.unwrap(),
            pairs(&[
                ("b", "boolean"),
                ("big", "decimal(20,0)"),
                ("l", "array<bigint>"),
                ("n", "double"),
                ("none", "string"),
                ("o", "struct<e:string,q:array<struct<k:bigint>>,z:boolean>"),
                ("s", "string"),
                ("x", "string"),
            ])
        );
    }

    #[tokio::test]
    async fn f001_no_file_yet_is_an_error_that_says_what_to_do() {
        let error = inferred(&[("_ignored", "{\"a\":1}")]).await.unwrap_err();
        assert!(error.to_string().contains("holds no file yet"), "{error}");
        assert!(error.hint().unwrap().contains("source.schema"));
        let error = inferred(&[("a", "[]\n7\n")]).await.unwrap_err();
        assert!(error.to_string().contains("is a JSON object"), "{error}");
    }

    #[tokio::test]
    async fn p019_names_that_clash_are_refused_at_every_depth() {
        for (content, expected) in [
            ("{\"a\":1}\n{\"A\":1}", "fields `A` and `a` differ only by case"),
            ("{\"x\":[{\"b\":1,\"B\":2}]}", "fields `B` and `b` differ only by case"),
            ("{\"ok\":1}\n{\"a\":1,\"a\":2}", "row 1: two fields are named `a`"),
            ("{\"File_Row\":1}", "a name that the source itself uses"),
        ] {
            let error = inferred(&[("a", content)]).await.unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
    }

    #[test]
    fn the_text_for_the_checkpoint_comes_back() {
        let schema = InferredSchema { columns: pairs(&[("a", "array<string>"), ("b", "bigint")]) };
        assert_eq!(InferredSchema::from_text(&schema.to_text()).unwrap(), schema);
        assert!(InferredSchema::from_text("v2").is_err());
    }
}
