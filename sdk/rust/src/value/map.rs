//! `Map<K, V>`: columns of type map.

use std::borrow::Borrow;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, MapArray, StructArray};
use arrow_schema::DataType;
use crisol_ipc::types;

use super::list::Ends;
use super::{Field, Value, never_null};

/// A map: its entries in their order. `V` may be an `Option`, `K` may not.
///
/// ```
/// use crisol_sdk::{Map, Text};
///
/// let stock: Map<Text<'_>, i64> = [("fig".into(), 3), ("nut".into(), 0)].into_iter().collect();
/// assert_eq!(stock.value_of("fig"), Some(&3));
/// assert_eq!(stock.len(), 2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Map<K, V>(pub Vec<(K, V)>);

impl<K, V> Map<K, V> {
    /// The value of the first entry with this key.
    pub fn value_of<Q: ?Sized + Eq>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.0.iter().find(|(found, _)| found.borrow() == key).map(|(_, value)| value)
    }
}

impl<K: Ord, V> Map<K, V> {
    /// A key that is there twice.
    pub fn twice(&self) -> Option<&K> {
        let mut keys: Vec<&K> = self.0.iter().map(|(key, _)| key).collect();
        keys.sort_unstable();
        keys.windows(2).find_map(|pair| if let [a, b] = pair { (a == b).then_some(*a) } else { None })
    }
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Map(Vec::new())
    }
}

impl<K, V> Deref for Map<K, V> {
    type Target = Vec<(K, V)>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<K, V> DerefMut for Map<K, V> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<K, V> FromIterator<(K, V)> for Map<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Map(entries.into_iter().collect())
    }
}

/// A column of maps to read.
#[derive(Debug)]
pub struct MapColumn<'a, K, V> {
    maps: &'a MapArray,
    keys: K,
    values: V,
}

/// Builds a column of maps.
#[derive(Debug)]
pub struct MapBuilder<K, V> {
    ends: Ends,
    keys: K,
    values: V,
}

impl<'a, K: Value<'a>, V: Field<'a> + Clone> Value<'a> for Map<K, V> {
    type Column = MapColumn<'a, K::Column, <V::Value as Value<'a>>::Column>;
    type Builder = MapBuilder<K::Builder, <V::Value as Value<'a>>::Builder>;

    fn data_type() -> DataType {
        types::map_of(K::data_type(), V::Value::data_type())
    }

    fn bind(column: &'a dyn Array) -> Option<Self::Column> {
        let maps: &MapArray = column.as_any().downcast_ref()?;
        let keys = K::bind(maps.keys().as_ref())?;
        Some(MapColumn { maps, keys, values: V::Value::bind(maps.values().as_ref())? })
    }

    #[inline]
    fn is_null(column: &Self::Column, row: usize) -> bool {
        column.maps.is_null(row)
    }

    fn get(column: &Self::Column, row: usize) -> Option<Self> {
        let [start, end] = *column.maps.value_offsets().get(row..)?.first_chunk::<2>()?;
        let entry = |at: usize| Some((K::get(&column.keys, at)?, V::get(&column.values, at)?));
        (start as usize..end as usize).map(entry).collect()
    }

    fn builder(rows: usize) -> Self::Builder {
        MapBuilder { ends: Ends::new(rows), keys: K::builder(rows), values: V::Value::builder(rows) }
    }

    fn append(builder: &mut Self::Builder, value: Option<&Self>) {
        for (key, value) in value.into_iter().flat_map(|map| &map.0) {
            K::append(&mut builder.keys, Some(key));
            V::Value::append(&mut builder.values, value.as_option());
        }
        builder.ends.push(value.map(|map| map.len()));
    }

    fn finish(builder: Self::Builder) -> ArrayRef {
        let (offsets, mut nulls) = builder.ends.finish();
        let columns = vec![K::finish(builder.keys), V::Value::finish(builder.values)];
        let (entry, fields) = types::entries_of(K::data_type(), V::Value::data_type());
        let entries = StructArray::new(fields, columns, None);
        Arc::new(MapArray::new(entry, offsets, entries, nulls.finish(), false))
    }
}

never_null!(['a, K: Value<'a>, V: Field<'a> + Clone] ['a] Map<K, V>);
