//! Arrays and objects in a message: lists and maps. Records are read by what [`record!`](macro@crate::record) makes.

use std::borrow::Cow;

use super::{Fault, FromJson, Peek, Plain, Quick, Reader};
use crate::value::{Field, Map, Text};

impl<'a, F> FromJson<'a> for Vec<F>
where
    F: Field<'a> + Clone,
    F::Value: FromJson<'a>,
{
    fn from_json(reader: &mut Reader<'a>, peek: Peek) -> Result<Self, Fault> {
        if peek != Peek::Array {
            return Err(reader.mismatch("an array"));
        }
        let mut elements = Vec::new();
        let mut more = reader.array()?;
        while more {
            let element = read(reader).map_err(|fault| fault.at(elements.len()))?;
            elements.push(element);
            more = reader.element()?;
        }
        Ok(elements)
    }

    fn from_plain(plain: Plain<'a>, quick: &mut Quick<'a>) -> Option<Self> {
        let Plain::Array = plain else { return None };
        let mut elements = Vec::new();
        while let Some(element) = quick.element()? {
            elements.push(quickly(element, quick)?);
        }
        Some(elements)
    }
}

/// Names in JSON are texts, so the keys are.
impl<'a, F> FromJson<'a> for Map<Text<'a>, F>
where
    F: Field<'a> + Clone,
    F::Value: FromJson<'a>,
{
    fn from_json(reader: &mut Reader<'a>, peek: Peek) -> Result<Self, Fault> {
        reader.expect_object(peek)?;
        let mut map = Map::default();
        reader.object();
        while let Some(key) = reader.field(str::to_string)? {
            let value = read(reader).map_err(|fault| fault.at(format_args!("{key:?}")))?;
            map.push((Cow::Owned(key), value));
        }
        reader.end()?;
        match map.twice() {
            Some(key) => Err(Fault::message("the key is there twice").at(format_args!("{key:?}"))),
            None => Ok(map),
        }
    }

    fn from_plain(plain: Plain<'a>, quick: &mut Quick<'a>) -> Option<Self> {
        let Plain::Object = plain else { return None };
        let mut map = Map::default();
        while let Some(key) = quick.field()? {
            let value = quick.value()?;
            map.push((Cow::Borrowed(key), quickly(value, quick)?));
        }
        map.twice().is_none().then_some(map)
    }
}

/// The element at which the reader stands.
fn read<'a, F: Field<'a>>(reader: &mut Reader<'a>) -> Result<F, Fault>
where
    F::Value: FromJson<'a>,
{
    F::from_option(reader.value()?).ok_or_else(Fault::nothing)
}

fn quickly<'a, F: Field<'a>>(plain: Plain<'a>, quick: &mut Quick<'a>) -> Option<F>
where
    F::Value: FromJson<'a>,
{
    match plain {
        Plain::Null => F::from_option(None),
        plain => F::from_option(Some(FromJson::from_plain(plain, quick)?)),
    }
}
