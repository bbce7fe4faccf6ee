//! Type names of contracts (Spark's) and their Arrow forms.
//!
//! Children are nullable, as in Spark; they bear the names that Delta gives them (`element`, `key_value`, `key`,
//! `value`), so that no batch needs a cast on its way to a table.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, TimeUnit};

/// Deepest nesting of `array`, `map` and `struct` that is understood.
pub const DEPTH_MAX: usize = 16;
/// Longest type name that is read, in bytes.
pub const TEXT_BYTES_MAX: usize = 16 * 1024;
/// Name of the child of an array.
pub const ELEMENT: &str = "element";
const ENTRIES: &str = "key_value";
const KEY: &str = "key";
const VALUE: &str = "value";
/// Zone of all timestamps.
pub const UTC: &str = "UTC";

/// Every simple name, and those that open a bracket.
const WORDS: [&str; 20] = [
    "string",
    "binary",
    "boolean",
    "byte",
    "tinyint",
    "short",
    "smallint",
    "int",
    "integer",
    "long",
    "bigint",
    "float",
    "real",
    "double",
    "decimal",
    "date",
    "timestamp",
    "array",
    "map",
    "struct",
];

/// The Arrow form of a type name: `int`, `decimal(18,2)`, `array<struct<sku:string,qty:int>>`. Case does not matter,
/// except in field names.
///
/// # Errors
/// Text for people: what is not understood, and the nearest valid name.
pub fn parse(text: &str) -> Result<DataType, String> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(format!("a type of {} bytes is too long, {TEXT_BYTES_MAX} are allowed", text.len()));
    }
    let mut parser = Parser { text, at: 0 };
    let data_type = parser.data_type(0)?;
    parser.skip_space();
    match parser.rest() {
        "" => Ok(data_type),
        rest => Err(format!("`{text}`: `{rest}` is left over after the type")),
    }
}

/// The type name of an Arrow type; the inverse of [`parse`] for the types that contracts have, `None` for others
/// (unsigned integers, timestamps in other units or zones, dictionaries, children that are not nullable).
pub fn name(data_type: &DataType) -> Option<String> {
    let simple = match data_type {
        DataType::Utf8 => "string",
        DataType::Binary => "binary",
        DataType::Boolean => "boolean",
        DataType::Int8 => "tinyint",
        DataType::Int16 => "smallint",
        DataType::Int32 => "int",
        DataType::Int64 => "bigint",
        DataType::Float32 => "float",
        DataType::Float64 => "double",
        DataType::Date32 => "date",
        DataType::Timestamp(TimeUnit::Microsecond, Some(zone)) if zone.as_ref() == UTC => "timestamp",
        DataType::Decimal128(precision, scale) => return Some(format!("decimal({precision},{scale})")),
        DataType::List(element) => return Some(format!("array<{}>", child_name(element)?)),
        DataType::Struct(fields) => {
            let fields: Option<Vec<String>> =
                fields.iter().map(|f| Some(format!("{}:{}", quoted(f.name()), child_name(f)?))).collect();
            return Some(format!("struct<{}>", fields?.join(",")));
        }
        DataType::Map(entries, false) => {
            let DataType::Struct(fields) = entries.data_type() else { return None };
            let [key, value] = fields.as_ref() else { return None };
            return Some(format!("map<{},{}>", name(key.data_type())?, child_name(value)?));
        }
        _ => return None,
    };
    Some(simple.to_string())
}

/// An array type.
pub fn list_of(element: DataType) -> DataType {
    DataType::List(Arc::new(Field::new(ELEMENT, element, true)))
}

/// A map type. Keys are never null.
pub fn map_of(key: DataType, value: DataType) -> DataType {
    DataType::Map(entries_of(key, value).0, false)
}

/// The child of a map, and the fields of its entries.
pub fn entries_of(key: DataType, value: DataType) -> (FieldRef, Fields) {
    let fields = Fields::from(vec![Field::new(KEY, key, false), Field::new(VALUE, value, true)]);
    (Arc::new(Field::new(ENTRIES, DataType::Struct(fields.clone()), false)), fields)
}

/// The timestamp type: microseconds, UTC.
pub fn timestamp() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some(UTC.into()))
}

fn child_name(field: &Field) -> Option<String> {
    if field.is_nullable() { name(field.data_type()) } else { None }
}

fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn quoted(name: &str) -> String {
    if !name.is_empty() && name.chars().all(is_plain) {
        name.to_string()
    } else {
        format!("`{}`", name.replace('`', "``"))
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, wanted: char) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        if self.eat(wanted) { Ok(()) } else { Err(self.wrong(&format!("`{wanted}`"))) }
    }

    fn wrong(&self, wanted: &str) -> String {
        let found = match self.rest().chars().next() {
            Some(c) => format!("`{c}`"),
            None => "the end".to_string(),
        };
        format!(
            "`{}`: expected {wanted} at character {}, found {found}",
            self.text,
            self.text[..self.at].chars().count() + 1
        )
    }

    fn word(&mut self) -> &'a str {
        self.skip_space();
        let rest = self.rest();
        let length = rest.find(|c| !is_plain(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn data_type(&mut self, depth: usize) -> Result<DataType, String> {
        if depth > DEPTH_MAX {
            return Err(format!("a type may be nested {DEPTH_MAX} levels deep, this one is deeper"));
        }
        let word = self.word();
        Ok(match word.to_ascii_lowercase().as_str() {
            "string" => DataType::Utf8,
            "binary" => DataType::Binary,
            "boolean" => DataType::Boolean,
            "byte" | "tinyint" => DataType::Int8,
            "short" | "smallint" => DataType::Int16,
            "int" | "integer" => DataType::Int32,
            "long" | "bigint" => DataType::Int64,
            "float" | "real" => DataType::Float32,
            "double" => DataType::Float64,
            "date" => DataType::Date32,
            "timestamp" => timestamp(),
            "decimal" | "dec" | "numeric" => self.decimal()?,
            "array" => {
                self.expect('<')?;
                let element = self.data_type(depth + 1)?;
                self.expect('>')?;
                list_of(element)
            }
            "map" => self.map(depth)?,
            "struct" => self.fields(depth)?,
            other => return Err(self.unknown(word, other)),
        })
    }

    fn unknown(&self, word: &str, lower: &str) -> String {
        if word.is_empty() {
            return self.wrong("a type");
        }
        if let Some(known) = foreign(lower) {
            return format!("`{word}` is not a type here; use {known}");
        }
        match nearest(lower) {
            Some(near) => format!("`{word}` is not a type; did you mean `{near}`?"),
            None => format!("`{word}` is not a type; types are {}", WORDS.join(", ")),
        }
    }

    fn decimal(&mut self) -> Result<DataType, String> {
        if !self.eat('(') {
            return Ok(DataType::Decimal128(10, 0));
        }
        let precision = self.number()?;
        let scale = if self.eat(',') { self.number()? } else { 0 };
        self.expect(')')?;
        if !(1..=38).contains(&precision) {
            return Err(format!("decimal({precision},{scale}): the precision must be 1 to 38"));
        }
        if scale > precision {
            return Err(format!("decimal({precision},{scale}): the scale must be 0 to {precision}, the precision"));
        }
        Ok(DataType::Decimal128(precision, scale as i8))
    }

    fn number(&mut self) -> Result<u8, String> {
        self.skip_space();
        let start = self.at;
        let word = self.word();
        word.parse().map_err(|_| {
            self.at = start;
            self.wrong("a number from 0 to 38")
        })
    }

    fn map(&mut self, depth: usize) -> Result<DataType, String> {
        self.expect('<')?;
        let key = self.data_type(depth + 1)?;
        if matches!(key, DataType::Map(..)) {
            return Err("a map cannot be the key of a map".to_string());
        }
        self.expect(',')?;
        let value = self.data_type(depth + 1)?;
        self.expect('>')?;
        Ok(map_of(key, value))
    }

    fn fields(&mut self, depth: usize) -> Result<DataType, String> {
        self.expect('<')?;
        let mut fields: Vec<Field> = Vec::new();
        loop {
            let name = self.field_name()?;
            if fields.iter().any(|f| f.name() == &name) {
                return Err(format!("`{}`: the field `{name}` is there twice", self.text));
            }
            // Spark accepts both `a:int` and `a int`.
            let _ = self.eat(':');
            fields.push(Field::new(name, self.data_type(depth + 1)?, true));
            if !self.eat(',') {
                break;
            }
        }
        self.expect('>')?;
        Ok(DataType::Struct(fields.into()))
    }

    fn field_name(&mut self) -> Result<String, String> {
        if !self.eat('`') {
            let word = self.word();
            return if word.is_empty() { Err(self.wrong("a field name")) } else { Ok(word.to_string()) };
        }
        let mut name = String::new();
        let mut rest = self.rest().chars();
        while let Some(c) = rest.next() {
            if c == '`' {
                let remaining = rest.as_str();
                if !remaining.starts_with('`') {
                    self.at = self.text.len() - remaining.len();
                    return Ok(name);
                }
                let _ = rest.next();
            }
            name.push(c);
        }
        Err(format!("`{}`: a backtick is not closed", self.text))
    }
}

/// Words of other systems, and what to write instead.
fn foreign(word: &str) -> Option<&'static str> {
    Some(match word {
        "varchar" | "char" | "text" | "str" | "utf8" => "`string`",
        "bytes" | "bytea" | "blob" | "varbinary" => "`binary`",
        "bool" => "`boolean`",
        "int8" => "`tinyint`",
        "int16" => "`smallint`",
        "int32" | "int4" => "`int`",
        "int64" => "`bigint`",
        "float32" => "`float`",
        "float64" | "number" => "`double` or `decimal(p,s)`",
        "datetime" | "timestamptz" | "timestamp_ltz" | "timestamp_ntz" => "`timestamp` (microseconds, UTC)",
        "list" => "`array<…>`",
        "record" | "row" | "object" | "json" | "variant" => "`struct<…>`, `map<…>` or `string`",
        _ => return None,
    })
}

/// The nearest word, when it is near enough to be what was meant.
fn nearest(word: &str) -> Option<&'static str> {
    let (distance, near) = WORDS.iter().map(|w| (distance(word, w), *w)).min_by_key(|(d, _)| *d)?;
    (distance * 3 <= near.len().max(3)).then_some(near)
}

/// Edits (insert, delete, replace) from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    // Words longer than any type name are near none of them.
    if a.len() > 32 {
        return usize::MAX / 4;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests;
