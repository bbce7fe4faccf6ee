//! One row: from the text of an object into the columns.
//!
//! A fault leaves the columns with a part of the row; the caller takes it back.

use crisol_sdk::Timestamp;
use crisol_sdk::scan::{self, ShortNumber};

use crate::column::{Bytes, Column, TooLong, Values, offset};
use crate::fault::{Fault, Parsed, excerpt};
use crate::lexer::{Cursor, NAME};
use crate::object::Object;
use crate::{escape, scalar};

/// From so many entries on, equal keys of a map are looked for by sorting.
const SORT_KEYS_MIN: usize = 16;

/// Reads a row: one object with nothing after it.
pub(crate) fn read(text: &[u8], object: &mut Object) -> Parsed<()> {
    let mut cursor = Cursor::new(text);
    match cursor.next() {
        Some(b'{') => read_object(&mut cursor, object, 1)?,
        None => return Err(Fault::new("empty payload".into())),
        Some(_) => return Err(no_object(&cursor)),
    }
    match cursor.next() {
        None => Ok(()),
        Some(_) => {
            Err(Fault::new(format!("text after the object at byte {}: `{}`", cursor.at(), excerpt(cursor.rest()))))
        }
    }
}

#[cold]
fn no_object(cursor: &Cursor<'_>) -> Box<Fault> {
    if cursor.rest().starts_with("\u{feff}".as_bytes()) {
        return Fault::new("not JSON: a byte order mark before the object".into());
    }
    cursor.mismatch(cursor.at(), "an object", "")
}

/// Reads the object whose brace is the next byte.
fn read_object(cursor: &mut Cursor<'_>, object: &mut Object, depth: usize) -> Parsed<()> {
    cursor.step();
    object.start();
    let (mut expected, mut filled) = (0, 0);
    if cursor.next() == Some(b'}') {
        cursor.step();
        object.end(filled);
        return Ok(());
    }
    loop {
        if let Some(index) = read_name(cursor, object, expected, depth)? {
            let Some(field) = object.claim(index) else { return Err(twice(object.name(index))) };
            read_value(cursor, &mut field.column, depth).map_err(|fault| fault.in_field(&field.name))?;
            expected = index + 1;
            filled += 1;
        }
        if !cursor.another(b'}')? {
            object.end(filled);
            return Ok(());
        }
    }
}

/// Reads a name and its colon: the index of the declared field. An undeclared field is read to its end (P-010).
#[inline]
fn read_name(cursor: &mut Cursor<'_>, object: &Object, expected: usize, depth: usize) -> Parsed<Option<usize>> {
    let _ = cursor.next();
    if let Some(length) = object.name_at(expected, cursor.rest()) {
        cursor.step_over(length);
        return Ok(Some(expected));
    }
    let string = cursor.string(NAME)?;
    let name = string.text();
    cursor.expect(b':')?;
    let found = object.find(&name, expected);
    if found.is_none() {
        cursor.skip(depth).map_err(|fault| fault.in_field(&String::from_utf8_lossy(&name)))?;
    }
    Ok(found)
}

#[cold]
fn twice(name: &str) -> Box<Fault> {
    Fault::new("the field is there twice".into()).in_field(name)
}

/// Reads one value into a column.
#[inline]
fn read_value(cursor: &mut Cursor<'_>, column: &mut Column, depth: usize) -> Parsed<()> {
    let first = cursor.next();
    if read_usual(cursor, &mut column.values, first) {
        column.nulls.append_non_null();
        return Ok(());
    }
    read_other(cursor, column, first, depth)
}

/// Reads `null`, a value with values in it, or one that is read with care. On its own, so that the usual ones need little of
/// the stack.
#[inline(never)]
fn read_other(cursor: &mut Cursor<'_>, column: &mut Column, first: Option<u8>, depth: usize) -> Parsed<()> {
    if first == Some(b'n') {
        cursor.word(b"null")?;
        column.append_null();
        return Ok(());
    }
    let start = cursor.at();
    let Column { values, type_name, .. } = column;
    match (values, first) {
        (Values::Text(text), _) => read_text(cursor, text, depth)?,
        (Values::Struct(object), Some(b'{')) => read_object(cursor, object, cursor.deeper(depth)?)?,
        (Values::List { offsets, items, .. }, Some(b'[')) => {
            read_items(cursor, items, cursor.deeper(depth)?)?;
            offsets.push(offset(items.len())?);
        }
        (Values::Map { offsets, keys, items, .. }, Some(b'{')) => {
            let before = keys.len();
            read_entries(cursor, keys, items, cursor.deeper(depth)?)?;
            check_keys(keys, before)?;
            offsets.push(offset(items.len())?);
        }
        (Values::Struct(_) | Values::List { .. } | Values::Map { .. }, _) | (_, Some(b'{' | b'[')) => {
            return Err(cursor.mismatch(start, type_name, ""));
        }
        (values, _) => {
            let token = cursor.scalar()?;
            scalar::append(values, token).map_err(|why| cursor.mismatch(start, type_name, why))?;
        }
    }
    column.nulls.append_non_null();
    Ok(())
}

/// Reads a string, number or moment as nearly all are written; leaves any other value, and a wrong one, to be read with care.
#[inline]
fn read_usual(cursor: &mut Cursor<'_>, values: &mut Values, first: Option<u8>) -> bool {
    // By the byte first: it is foreseen better than the type of a column.
    let length = match first {
        Some(b'"') => match values {
            Values::Text(texts) => read_string(cursor.rest(), texts),
            Values::Timestamp(moments) => read_moment(cursor.rest(), moments),
            _ => None,
        },
        Some(b'-' | b'0'..=b'9') => read_number(cursor.rest(), values),
        _ => None,
    };
    if let Some(length) = length {
        cursor.step_over(length);
    }
    length.is_some()
}

/// The bytes of a string without escapes, in quotes, that was appended.
#[inline]
fn read_string(text: &[u8], to: &mut Bytes) -> Option<usize> {
    let end = scan::special::<b'"'>(text, 1);
    if text.get(end) != Some(&b'"') {
        return None;
    }
    to.append(text.get(1..end)?);
    to.end_value().ok()?;
    Some(end + 1)
}

/// The bytes of a moment in quotes that was appended.
#[inline]
fn read_moment(text: &[u8], to: &mut Vec<i64>) -> Option<usize> {
    let (moment, length) = Timestamp::read_utc(text.get(1..)?)?;
    if text.get(length + 1) != Some(&b'"') {
        return None;
    }
    to.push(moment.micros);
    Some(length + 2)
}

/// The bytes of a number that was appended.
#[inline]
fn read_number(text: &[u8], to: &mut Values) -> Option<usize> {
    let number = ShortNumber::read(text)?;
    match to {
        Values::Byte(values) => values.push(number.integer()?.try_into().ok()?),
        Values::Short(values) => values.push(number.integer()?.try_into().ok()?),
        Values::Int(values) => values.push(number.integer()?.try_into().ok()?),
        Values::Long(values) => values.push(number.integer()?),
        Values::Decimal { values, precision, scale } => values.push(number.decimal(*precision, *scale)?),
        _ => return None,
    }
    Some(number.length)
}

/// A string takes any value: strings without their escapes, all else as its text stands (P-011).
fn read_text(cursor: &mut Cursor<'_>, to: &mut Bytes, depth: usize) -> Parsed<()> {
    if let Some(b'"' | b'\'') = cursor.peek() {
        let string = cursor.string("a string")?;
        if string.escaped {
            escape::append(string.raw, &mut to.bytes);
        } else {
            to.append(string.raw);
        }
    } else {
        let start = cursor.at();
        cursor.skip(depth)?;
        to.append(cursor.since(start));
    }
    Ok(to.end_value()?)
}

/// Reads the array whose bracket is the next byte.
fn read_items(cursor: &mut Cursor<'_>, items: &mut Column, depth: usize) -> Parsed<()> {
    cursor.step();
    if cursor.next() == Some(b']') {
        cursor.step();
        return Ok(());
    }
    let before = items.len();
    loop {
        let index = items.len() - before;
        read_value(cursor, items, depth).map_err(|fault| fault.in_item(index))?;
        if !cursor.another(b']')? {
            return Ok(());
        }
    }
}

/// Reads the object, any names, whose brace is the next byte.
fn read_entries(cursor: &mut Cursor<'_>, keys: &mut Bytes, items: &mut Column, depth: usize) -> Parsed<()> {
    cursor.step();
    if cursor.next() == Some(b'}') {
        cursor.step();
        return Ok(());
    }
    loop {
        let _ = cursor.next();
        let name = cursor.string(NAME)?;
        escape::append(name.raw, &mut keys.bytes);
        keys.end_value()?;
        cursor.expect(b':')?;
        let key = |keys: &Bytes| String::from_utf8_lossy(keys.value(keys.len() - 1)).into_owned();
        read_value(cursor, items, depth).map_err(|fault| fault.in_key(&key(keys)))?;
        if !cursor.another(b'}')? {
            return Ok(());
        }
    }
}

/// The keys from `before` on must differ: a map holds each key once.
fn check_keys(keys: &Bytes, before: usize) -> Parsed<()> {
    let new = before..keys.len();
    let equal = if new.len() < SORT_KEYS_MIN {
        new.clone().find(|&i| (before..i).any(|j| keys.value(i) == keys.value(j))).map(|i| keys.value(i))
    } else {
        let mut sorted: Vec<&[u8]> = new.map(|i| keys.value(i)).collect();
        sorted.sort_unstable();
        sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
    };
    match equal {
        None => Ok(()),
        Some(key) => Err(Fault::new("the key is there twice".into()).in_key(&String::from_utf8_lossy(key))),
    }
}

impl From<TooLong> for Box<Fault> {
    fn from(_: TooLong) -> Self {
        Fault::new("the column would hold more than 2 GiB".into())
    }
}
